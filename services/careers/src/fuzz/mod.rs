//! Fuzz targets: applications and résumé files. How to run them: docs/testing.md.

mod applications;
mod resumes;
