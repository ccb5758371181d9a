//! Fuzz targets: what a visitor enters, and what stands in the links of mails. How they are run: docs/testing.md.

mod entered;
mod tokens;
