//! `sitectl completions` and `sitectl man-pages`: what a shell and `man` know of the commands.

use std::{fs, io::Write as _, path::PathBuf};

use anyhow::Context as _;
use clap::{Arg, Args, Command};
use clap_complete::Shell;

use crate::output::stdout;

/// Which shell.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell that is to know the commands
    shell: Shell,
}

/// Where to.
#[derive(Args, Debug)]
pub struct ManPagesArgs {
    /// The folder, such as ~/.local/share/man/man1; made where it is missing
    folder: PathBuf,
}

/// Prints the script for a shell.
///
/// # Errors
///
/// If the disk behind stdout is full.
pub fn completions(args: &CompletionsArgs, tool: &Command) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut without_hidden(tool),
        tool.get_name(),
        &mut script,
    );
    let mut out = stdout();
    out.write_all(&script)?;
    Ok(out.flush()?)
}

/// Writes the pages, and says where they are.
///
/// # Errors
///
/// If the folder cannot be written to.
pub fn man_pages(args: &ManPagesArgs, tool: Command) -> anyhow::Result<()> {
    let written =
        fs::create_dir_all(&args.folder).and_then(|()| clap_mangen::generate_to(tool, &args.folder));
    written.with_context(|| format!("{} cannot be written to", args.folder.display()))?;
    writeln!(stdout(), "Written to {}.", args.folder.display())?;
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
