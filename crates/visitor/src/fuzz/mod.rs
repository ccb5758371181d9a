//! Fuzz targets for form input and tokens. docs/testing.md says how to run them.

mod entered;
mod tokens;
