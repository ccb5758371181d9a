//! `sitectl completions` and `sitectl man-pages`.

use std::{fs, io};

use clap::CommandFactory;
use sitectl::Cli;
use tempfile::TempDir;

use crate::{
    settings_table::leaves,
    tool::{assert_says, told, tool},
};

#[test]
fn each_command_has_a_manual_page() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let to = folder.path().join("man1");
    told(&["man-pages", &to.display().to_string()], &[])?;
    for (command, _) in leaves(&Cli::command(), "sitectl") {
        let page = to.join(format!("{}.1", command.replace(' ', "-")));
        assert!(page.is_file(), "{}", page.display());
    }
    let page = fs::read_to_string(to.join("sitectl-person-erase.1"))?;
    let page = page.replace('\\', "");
    assert_says(
        &page,
        &[
            "PERSON_KEY, PERSON_KEY_FILE [required]",
            "--yes",
            "without this it is a dry run",
        ],
    );
    assert!(!page.contains("--person-key"), "{page}");
    Ok(())
}

/// `head` closes the pipe early.
#[test]
fn a_closed_stdout_ends_the_tool_quietly() -> anyhow::Result<()> {
    let (_, closed) = io::pipe()?;
    let output = tool(&["completions", "bash"], &[]).stdout(closed).output()?;
    assert_eq!(String::from_utf8(output.stderr)?, "");
    assert_eq!(output.status.code(), Some(0));
    Ok(())
}
