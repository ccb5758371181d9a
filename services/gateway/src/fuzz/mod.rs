//! Fuzz targets: input from visitors and proxies. How to run them: docs/testing.md.

mod forwarding;
mod upload_forms;
mod uploads;
