//! What a rehearsal says as it goes on.

use std::io::{Write as _, stdout};

/// Says what came of a scene.
///
/// # Errors
///
/// If nobody listens.
pub fn say(words: &str) -> anyhow::Result<()> {
    Ok(writeln!(stdout(), "{words}")?)
}
