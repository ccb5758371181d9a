//! Fuzz targets: what applicants send, and as their résumé. How they are run: docs/testing.md.

mod applications;
mod resumes;
