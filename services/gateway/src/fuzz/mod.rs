//! Fuzz target: input from visitors and proxies. How to run it: docs/testing.md.

mod uploads;
