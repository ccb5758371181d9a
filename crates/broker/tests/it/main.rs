//! Publishing, consuming and permissions on real NATS servers.

mod consuming;
mod full;
mod publishing;
mod readers;
mod rights;
mod rollups;
mod stream_reader;
mod support;
