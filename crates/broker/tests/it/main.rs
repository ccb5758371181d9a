//! The events as other people's programs meet them.

mod consuming;
mod readers;
mod snapshots;
