//! Fuzz targets: what applicants send, and as their résumé, and what the virus scanner answers. How they are run: docs/testing.md.

mod answers;
mod applications;
mod resumes;
