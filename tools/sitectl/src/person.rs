//! `sitectl person`: all that is held of one person, handed out or erased.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use async_nats::jetstream::message::StreamMessage;
use clap::{Args, Subcommand};
use resumes::S3Settings;
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;
use visitor::{EmailAddress, InboxId, PersonId, PersonKeySettings, token::TokenKey};

use crate::{
    broker,
    common_args::{CommonArgs, Mode, ModeArgs},
    dead_letters,
    held_elsewhere::{self, Holder},
    output::print_output,
    personal_data::{PersonalData, PersonalDataStores},
    private_folder,
};

/// Which of the commands, and what it needs to know.
#[derive(Args, Debug)]
pub struct PersonArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Writes all that is held of a person into a folder
    Export {
        #[command(flatten)]
        search: Box<SearchArgs>,
        /// The folder: new, or empty
        folder: PathBuf,
    },
    /// Erases all that is held of a person
    Erase {
        #[command(flatten)]
        mode: ModeArgs,
        #[command(flatten)]
        search: Box<SearchArgs>,
    },
}

/// Whose data are looked for, by which keys, and where.
#[derive(Args, Debug)]
struct SearchArgs {
    /// The person's e-mail address
    #[arg(value_name = "E-MAIL")]
    email: String,
    #[command(flatten)]
    key: PersonKeySettings,
    #[command(flatten)]
    inbox_keys: InboxKeyArgs,
    /// The bucket of résumés
    #[command(flatten)]
    store: S3Settings,
    #[command(flatten)]
    common: CommonArgs,
}

/// What finds the mails that were counted for a person's inbox.
#[derive(Args, Debug)]
struct InboxKeyArgs {
    /// Key of the tokens in mailed links, at least 32 bytes, the same in every service; with it only their inbox's counted mails
    /// are read, without it everybody's
    #[arg(long, env = "TOKEN_KEY", hide_env_values = true, value_parser = TokenKey::new)]
    token_key: Option<TokenKey>,
    /// The key of the tokens before it, on the day that it changes
    #[arg(long, env = "TOKEN_KEY_FORMER", hide_env_values = true, value_parser = TokenKey::new, requires = "token_key")]
    token_key_former: Option<TokenKey>,
}

/// Does what was asked for.
///
/// # Errors
///
/// If the address is not one, a store cannot be used, the folder is not empty or does not take it all, or something is
/// left after erasing.
pub async fn run(args: &PersonArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::Export { search, folder } => export(search, folder).await,
        Command::Erase { mode, search } => match mode.mode() {
            Mode::Apply => erase(search).await,
            Mode::DryRun => print_dry_run(search).await,
        },
    }
}

/// Whose data are looked for, and where they may lie.
struct Search {
    stores: PersonalDataStores,
    person: PersonId,
    inboxes: Option<Vec<InboxId>>,
}

impl Search {
    async fn begin(args: &SearchArgs) -> anyhow::Result<Self> {
        let email = EmailAddress::parse(&args.email)?;
        let person = args.key.person_key.person(&email);
        let stores = PersonalDataStores::open(&args.common.nats, &args.store, &args.key.person_key).await?;
        Ok(Self {
            inboxes: args.inbox_keys.inboxes(&email),
            stores,
            person,
        })
    }

    async fn run(&self, further_events: &BTreeSet<Uuid>) -> anyhow::Result<PersonalData> {
        let inboxes = self.inboxes.as_deref();
        self.stores.search(&self.person, inboxes, further_events).await
    }
}

impl InboxKeyArgs {
    /// The ids of the inbox behind an address; none where no key is given.
    fn inboxes(&self, email: &EmailAddress) -> Option<Vec<InboxId>> {
        let current = self.token_key.iter();
        let keys = current.chain(&self.token_key_former);
        let inboxes: Vec<InboxId> = keys.map(|key| InboxId::of(email, key)).collect();
        (!inboxes.is_empty()).then_some(inboxes)
    }
}

async fn export(args: &SearchArgs, to: &Path) -> anyhow::Result<()> {
    private_folder::ensure_new_or_empty(to)?;
    let search = Search::begin(args).await?;
    let found = search.run(&BTreeSet::new()).await?;
    let Search { stores, person, .. } = &search;
    write(to, stores, &found).await?;
    let counts = found.counts();
    let document = json!({ "person": person, "exported": counts, "to": to });
    let heading = format!("Exported to {}:", to.display());
    print_output(
        args.common.json,
        &document,
        std::iter::once(heading).chain(stores.summary(&counts)),
    )
}

async fn erase(args: &SearchArgs) -> anyhow::Result<()> {
    let search = Search::begin(args).await?;
    let found = search.run(&BTreeSet::new()).await?;
    let Search { stores, person, .. } = &search;
    let holders = stores.held_elsewhere(&found).await?;
    let told = stores.erase(person, &found).await;
    // The records that say so may be erased by now.
    let told =
        told.with_context(|| format!("not everything was erased; repeat it. {}", in_a_line(&holders)))?;
    let left = search.run(&found.event_ids()).await?.counts();
    ensure!(
        left.is_nothing(),
        "Not everything was erased, or something came meanwhile; repeat it. Left are {}. {}",
        stores.summary(&left).join(", "),
        in_a_line(&holders)
    );
    let counts = found.counts();
    let freed = counts.freed();
    let document = json!({
        "person": person, "erased": counts, "awaitsCompaction": freed, "told": told, "heldElsewhere": holders,
    });
    let mut lines = vec!["Erased, and found nothing more:".to_owned()];
    lines.extend(stores.summary(&counts));
    lines.push(format!(
        "Endpoints of webhooks that hear of person.erased are told so: event {told}."
    ));
    lines.extend(held_elsewhere::lines(&holders));
    lines.extend(freed.iter().map(|bucket| {
        format!("The broker's files of the bucket {bucket} may hold the record until it compacts them.")
    }));
    print_output(args.common.json, &document, lines)
}

fn in_a_line(holders: &[Holder]) -> String {
    held_elsewhere::lines(holders).join(" ")
}

async fn print_dry_run(args: &SearchArgs) -> anyhow::Result<()> {
    let search = Search::begin(args).await?;
    let found = search.run(&BTreeSet::new()).await?;
    let Search { stores, person, .. } = &search;
    let (counts, holders) = (found.counts(), stores.held_elsewhere(&found).await?);
    let document = json!({ "person": person, "wouldErase": counts, "heldElsewhere": holders });
    let mut lines = vec!["Nothing was erased; repeat it with --yes. Would erase:".to_owned()];
    lines.extend(stores.summary(&counts));
    lines.extend(held_elsewhere::lines(&holders));
    print_output(args.common.json, &document, lines)
}

async fn write(to: &Path, stores: &PersonalDataStores, found: &PersonalData) -> anyhow::Result<()> {
    private_folder::create(to)?;
    write_json(&to.join("events.json"), found.events.iter().map(event))?;
    let letters = found.dead_letters.iter().map(dead_letters::document);
    write_json(&to.join("dead-letters.json"), letters)?;
    write_json(&to.join("sendings.json"), found.sendings.iter().map(event))?;
    write_json(&to.join("deliveries.json"), found.deliveries.iter().map(record))?;
    write_json(
        &to.join("visitor-mails.json"),
        found.visitor_mails.iter().map(record),
    )?;
    if let Some(subscriber) = &found.subscriber {
        let subscriber = serde_json::to_vec_pretty(&record(subscriber))?;
        private_folder::write(&to.join("subscriber.json"), &subscriber)?;
    }
    for key in &found.resumes {
        let folder = to.join("resumes").join(key.attempt());
        let file_name = found.file_name_of(key);
        private_folder::create(&folder)?;
        private_folder::write(&folder.join(file_name), &stores.resume(key).await?)?;
    }
    Ok(())
}

/// An event and where it was found.
fn event(message: &StreamMessage) -> Value {
    json!({
        "number": message.sequence,
        "subject": message.subject.as_str(),
        "stored": message.time.format(&Rfc3339).ok(),
        "event": broker::content(message),
    })
}

/// A bucket's record.
fn record(message: &StreamMessage) -> Value {
    json!({
        "key": message.subject.as_str(),
        "stored": message.time.format(&Rfc3339).ok(),
        "value": broker::content(message),
    })
}

fn write_json(path: &Path, values: impl IntoIterator<Item = Value>) -> anyhow::Result<()> {
    let values: Vec<Value> = values.into_iter().collect();
    private_folder::write(path, &serde_json::to_vec_pretty(&values)?)
}
