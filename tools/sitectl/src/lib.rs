//! The operator's command line tool.
//!
//! A library besides, so that the table of settings in `docs/operations.md` is made of what it takes.

mod applications;
mod backup;
pub mod broker;
mod common_args;
mod dead_letters;
mod dns_records;
mod doctor;
mod event_export;
mod finding;
mod http_client;
mod leads;
mod manual;
mod newsletter;
mod output;
mod person;
pub mod personal_data;
mod preflight;
mod setup;
mod subscribers;
pub mod sweep;
mod synthetic_check;
mod webhooks;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
pub use common_args::Mode;
pub use dead_letters::replay_letters;
pub use output::printable;
use site_service::settings;

/// The operator's tool
#[derive(Parser, Debug)]
#[command(name = "sitectl", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Creates streams, consumers and buckets where they are missing; safe to repeat
    Setup(Box<setup::SetupArgs>),
    /// What could not be delivered: list, show, replay, drop
    #[command(subcommand)]
    DeadLetters(dead_letters::Command),
    /// What is held of one person: export, erase
    #[command(subcommand)]
    Person(person::PersonCommand),
    /// The newsletter's subscribers: export, import, lift
    #[command(subcommand)]
    Subscribers(subscribers::Command),
    /// Issues of the newsletter: preview, test, send, status, pause, resume, cancel
    #[command(subcommand)]
    Newsletter(Box<newsletter::Command>),
    /// The endpoints of webhooks: list, enable, deliveries, pause, resume, preview, test
    #[command(subcommand)]
    Webhooks(Box<webhooks::Command>),
    /// Contact messages: list, export
    #[command(subcommand)]
    Leads(leads::LeadsCommand),
    /// Applications: list, export, link
    #[command(subcommand)]
    Applications(Box<applications::ApplicationsCommand>),
    /// Writes all that is stored, streams and bucket, into a second bucket
    Backup(Box<backup::BackupArgs>),
    /// Brings back what a backup holds, into an empty broker and an empty bucket
    Restore(Box<backup::RestoreArgs>),
    /// Removes what nothing needs any more: résumés without an event, addresses of people who left the newsletter, events of checks
    Sweep(Box<sweep::SweepArgs>),
    /// Prints what must stand in the DNS for our mails: SPF, DKIM, DMARC
    DnsRecords(Box<dns_records::DnsRecordsArgs>),
    /// Names the placeholders that an overlay still holds, before it is applied
    Preflight(preflight::PreflightArgs),
    /// Sends a marked form from outside and follows it to an inbox; fails where its mail is late
    SyntheticCheck(Box<synthetic_check::SyntheticCheckArgs>),
    /// Looks at everything and says what is wrong
    Doctor(Box<doctor::DoctorArgs>),
    /// Prints the script by which a shell completes commands
    Completions {
        /// The shell that is to know the commands
        shell: Shell,
    },
    /// Writes a manual page of each command into a folder
    ManPages {
        /// The folder, such as ~/.local/share/man/man1; made where it is missing
        folder: PathBuf,
    },
}

/// Does what was asked for.
///
/// # Errors
///
/// If it was not done, or not all of it: the sentence says what, and the exit code is 1.
pub async fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Setup(args) => setup::setup(&args).await,
        Command::DeadLetters(command) => dead_letters::run(&command).await,
        Command::Person(command) => person::run(&command).await,
        Command::Subscribers(command) => subscribers::run(&command).await,
        Command::Newsletter(command) => newsletter::run(&command).await,
        Command::Webhooks(command) => webhooks::run(&command).await,
        Command::Leads(command) => leads::run(&command).await,
        Command::Applications(command) => applications::run(&command).await,
        Command::Backup(args) => backup::backup(&args).await,
        Command::Restore(args) => backup::restore(&args).await,
        Command::Sweep(args) => sweep::sweep(&args).await,
        Command::DnsRecords(args) => dns_records::dns_records(&args),
        Command::Preflight(args) => preflight::preflight(&args).await,
        Command::SyntheticCheck(args) => synthetic_check::synthetic_check(&args).await,
        Command::Doctor(args) => doctor::doctor(&args).await,
        Command::Completions { shell } => manual::completions(shell, &settings::described::<Cli>()),
        Command::ManPages { folder } => manual::man_pages(&folder, settings::described::<Cli>()),
    }
}
