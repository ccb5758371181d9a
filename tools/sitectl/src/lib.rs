//! The operator's command line tool.
//!
//! Also a library: tests generate the table of settings in `docs/operations.md` from it.

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
mod init;
mod leads;
mod manual;
mod newsletter;
mod output;
mod person;
pub mod person_stores;
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
    /// Writes the settings and secrets of a new installation, for compose.yaml or Kubernetes
    Init(Box<init::InitArgs>),
    /// Creates or updates streams, consumers and buckets; safe to repeat
    Setup(Box<setup::SetupArgs>),
    /// Undelivered events: list, show, replay, drop
    #[command(subcommand)]
    DeadLetters(dead_letters::Command),
    /// Personal data of one person: export, erase
    #[command(subcommand)]
    Person(person::PersonCommand),
    /// Newsletter subscribers: export, import, lift
    #[command(subcommand)]
    Subscribers(subscribers::Command),
    /// Newsletter issues: preview, test, send, status, pause, resume, cancel
    #[command(subcommand)]
    Newsletter(Box<newsletter::Command>),
    /// Webhook endpoints: list, enable, deliveries, pause, resume, preview, test
    #[command(subcommand)]
    Webhooks(Box<webhooks::Command>),
    /// Contact messages: list, export
    #[command(subcommand)]
    Leads(leads::LeadsCommand),
    /// Applications: list, export, link
    #[command(subcommand)]
    Applications(Box<applications::ApplicationsCommand>),
    /// Backs up all streams and the bucket of résumés into a second bucket
    Backup(Box<backup::BackupArgs>),
    /// Restores a backup into an empty broker and an empty bucket
    Restore(Box<backup::RestoreArgs>),
    /// Removes unneeded data: résumés without an event, addresses of former subscribers, events of synthetic checks
    Sweep(Box<sweep::SweepArgs>),
    /// Prints the DNS records that our mails need: SPF, DKIM, DMARC
    DnsRecords(Box<dns_records::DnsRecordsArgs>),
    /// Lists the placeholders left in an overlay, before it is applied
    Preflight(preflight::PreflightArgs),
    /// Sends a marked form from outside and waits for its mail; fails if the mail is late
    SyntheticCheck(Box<synthetic_check::SyntheticCheckArgs>),
    /// Checks the whole installation and reports problems
    Doctor(Box<doctor::DoctorArgs>),
    /// Prints the completion script of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Writes a manual page per command into a folder
    ManPages {
        /// The folder, such as ~/.local/share/man/man1; created if it does not exist
        folder: PathBuf,
    },
}

/// Runs a command.
///
/// # Errors
///
/// If the command failed, even in part. The exit code is then 1.
pub async fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Init(args) => init::init(&args),
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
