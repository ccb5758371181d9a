//! The events as other people's programs meet them.

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
