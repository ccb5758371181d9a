//! Fuzz targets: what visitors and proxies send. How they are run: docs/testing.md.

mod forwarding;
mod upload_forms;
mod uploads;
