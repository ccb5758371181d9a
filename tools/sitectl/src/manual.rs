//! `sitectl completions` and `sitectl man-pages`: what a shell and `man` know of the commands.

use std::{fs, io::Write as _, path::Path};

use anyhow::Context as _;
use clap::{Arg, Command};
use clap_complete::Shell;

use crate::output::stdout;

/// Prints the script for a shell.
///
/// # Errors
///
/// If the disk behind stdout is full.
pub fn completions(shell: Shell, tool: &Command) -> anyhow::Result<()> {
    let (mut shown, mut script) = (without_hidden(tool), Vec::new());
    clap_complete::generate(shell, &mut shown, tool.get_name(), &mut script);
    let mut out = stdout();
    out.write_all(&script)?;
    Ok(out.flush()?)
}

/// Writes the pages, and says where they are.
///
/// # Errors
///
/// If the folder cannot be written to.
pub fn man_pages(folder: &Path, tool: Command) -> anyhow::Result<()> {
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(tool, folder));
    written.with_context(|| format!("{} cannot be written to", folder.display()))?;
    writeln!(stdout(), "Written to {}.", folder.display())?;
    Ok(())
}

/// The command without arguments that are hidden: the scripts would offer the flags of secrets, which nobody may give.
fn without_hidden(command: &Command) -> Command {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        .args(shown.map(alone))
        .subcommands(command.get_subcommands().map(without_hidden))
}

/// The same argument without what it requires, which may be hidden.
fn alone(arg: &Arg) -> Arg {
    let alone = Arg::new(arg.get_id().clone())
        .action(arg.get_action().clone())
        .help(arg.get_help().cloned().unwrap_or_default())
        .value_parser(arg.get_value_parser().clone());
    match arg.get_long() {
        Some(long) => alone.long(long.to_owned()),
        None => alone,
    }
}
