//! `cargo xtask changelog`.

use crate::{
    step::{program, run},
    tools::{self, Tool, git_cliff},
};

/// Writes `CHANGELOG.md` from the commits.
///
/// # Errors
///
/// Where git-cliff cannot be fetched, or does not understand `cliff.toml`.
pub fn changelog(tag: Option<&str>) -> anyhow::Result<()> {
    tools::ensure_tools(&[Tool::GitCliff])?;
    let mut write = program(git_cliff(), &["--offline", "--output", "CHANGELOG.md"]);
    if let Some(tag) = tag {
        write.args(["--tag", tag]);
    }
    run("Writing CHANGELOG.md", &mut write, "See cliff.toml.")
}
