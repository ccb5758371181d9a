//! `sitectl subscribers`: the newsletter's subscribers, to be taken out, brought in, or given another chance.

mod export;
mod import;
mod lift;
mod lines;

use clap::Subcommand;

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Writes all subscribers to stdout, as CSV
    Export(export::ExportArgs),
    /// Brings in who gave their consent elsewhere, and who left elsewhere; nobody gets a mail by it
    Import(import::ImportArgs),
    /// Lets mails go again to an address that came back as not existing
    Lift(lift::LiftArgs),
}

/// # Errors
///
/// If the broker is unavailable, a record or a line of a table cannot be read, or an address that is to be lifted is
/// not suppressed.
pub async fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Export(args) => export::export(args).await,
        Command::Import(args) => import::import(args).await,
        Command::Lift(args) => lift::lift(args).await,
    }
}
