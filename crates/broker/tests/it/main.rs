//! Publishing, consuming and permissions on real NATS servers.

mod consuming;
mod elections;
mod full;
mod readers;
mod reconnecting;
mod repeats;
mod rights;
mod rollups;
mod snapshots;
mod stream_reader;
