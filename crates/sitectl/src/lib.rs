//! The operator's command line tool.
//!
//! A library besides, so that the table of settings in `docs/operations.md` is made of what it takes.

mod answer;
mod backup;
mod broker;
mod common_args;
mod dead_letters;
mod doctor;
mod holdings;
mod person;
mod private_folder;
mod setup;
mod subscribers;
mod webhooks;

use clap::{Parser, Subcommand};

/// The operator's tool
#[derive(Parser)]
#[command(name = "sitectl", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Creates streams, consumers and buckets where they are missing; safe to repeat
    Setup(Box<setup::Settings>),
    /// What could not be delivered: list, show, replay, drop
    DeadLetters(dead_letters::Settings),
    /// What is held of one person: export, erase
    Person(person::Settings),
    /// The newsletter's subscribers: export, import, lift
    Subscribers(subscribers::Settings),
    /// The endpoints of webhooks: list, enable
    Webhooks(webhooks::Settings),
    /// Writes all that is stored, streams and bucket, into a folder
    Backup(backup::BackupSettings),
    /// Brings back what a backup holds, into an empty broker and an empty bucket
    Restore(backup::RestoreSettings),
    /// Looks at everything and says what is wrong
    Doctor(Box<doctor::Settings>),
}

/// Does what was asked for.
///
/// # Errors
///
/// If it was not done, or not all of it: the sentence says what, and the exit code is 1.
pub async fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Task::Setup(settings) => setup::setup(&settings).await,
        Task::DeadLetters(settings) => dead_letters::run(&settings).await,
        Task::Person(settings) => person::run(&settings).await,
        Task::Subscribers(settings) => subscribers::run(&settings).await,
        Task::Webhooks(settings) => webhooks::run(&settings).await,
        Task::Backup(settings) => backup::backup(&settings).await,
        Task::Restore(settings) => backup::restore(&settings).await,
        Task::Doctor(settings) => doctor::doctor(&settings).await,
    }
}
