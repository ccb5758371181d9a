//! The events as other people's programs meet them.

mod readers;
mod snapshots;
