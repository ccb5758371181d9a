//! The folder of the tools that are fetched.

use std::path::PathBuf;

use crate::step::root;

/// Where tools of ours are.
pub fn folder() -> PathBuf {
    root().join("target/tools")
}
