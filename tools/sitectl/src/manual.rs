//! `sitectl completions` and `sitectl man-pages`.

use std::{fs, io::Write as _, path::Path};

use anyhow::Context as _;
use clap::{Arg, Command};
use clap_complete::Shell;

use crate::output::stdout;

/// # Errors
///
/// If the disk behind stdout is full.
pub fn completions(shell: Shell, tool: &Command) -> anyhow::Result<()> {
    let (mut visible, mut script) = (without_hidden(tool), Vec::new());
    clap_complete::generate(shell, &mut visible, tool.get_name(), &mut script);
    let mut out = stdout();
    out.write_all(&script)?;
    Ok(out.flush()?)
}

/// # Errors
///
/// If the folder is not writable.
pub fn man_pages(folder: &Path, tool: Command) -> anyhow::Result<()> {
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(tool, folder));
    written.with_context(|| format!("{} cannot be written to", folder.display()))?;
    writeln!(stdout(), "Written to {}.", folder.display())?;
    Ok(())
}

/// Removes hidden arguments: they are secrets, which the command rejects as flags.
fn without_hidden(command: &Command) -> Command {
    let visible = command.get_arguments().filter(|arg| !arg.is_hide_set());
    Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        .args(visible.map(independent))
        .subcommands(command.get_subcommands().map(without_hidden))
}

/// Removes an argument's requirements, because they may be hidden arguments.
fn independent(arg: &Arg) -> Arg {
    let independent = Arg::new(arg.get_id().clone())
        .action(arg.get_action().clone())
        .help(arg.get_help().cloned().unwrap_or_default())
        .value_parser(arg.get_value_parser().clone());
    match arg.get_long() {
        Some(long) => independent.long(long.to_owned()),
        None => independent,
    }
}
