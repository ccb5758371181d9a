//! Fuzz targets: what visitors and proxies send. How they are run: docs/testing.md.

mod addresses;
mod uploads;
