//! `sitectl person`: exports or erases a person's data.

use std::{
    collections::BTreeSet,
    fs::{self, DirBuilder, Permissions},
    iter,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use async_nats::jetstream::message::StreamMessage;
use clap::{Args, Subcommand};
use resumes::S3Settings;
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use visitor::{EmailAddress, PersonId, PersonKeySettings};

use crate::{
    broker,
    common_args::{CommonArgs, Mode},
    dead_letters,
    output::print_output,
    person_stores::{
        DEAD_LETTERS, DELIVERIES, EVENTS, Holder, PersonalData, PersonalDataStores, Place, SENDINGS,
        SUBSCRIBER, VISITOR_MAILS,
    },
};

#[derive(Subcommand, Debug)]
pub enum PersonCommand {
    /// Writes all data of a person into a folder
    Export {
        #[command(flatten)]
        search: Box<SearchArgs>,
        /// A new or empty folder
        folder: PathBuf,
    },
    /// Erases all data of a person
    Erase {
        #[command(flatten)]
        mode: Mode,
        #[command(flatten)]
        search: Box<SearchArgs>,
    },
}

/// Person and stores to search.
#[derive(Args, Debug)]
pub struct SearchArgs {
    /// The person's e-mail address
    #[arg(value_name = "E-MAIL")]
    email: String,
    #[command(flatten)]
    key: PersonKeySettings,
    #[command(flatten)]
    store: S3Settings,
    #[command(flatten)]
    common: CommonArgs,
}

/// # Errors
///
/// If the address is invalid, a store fails, the folder is not empty or not writable, or data are left after an erasure.
pub async fn run(command: &PersonCommand) -> anyhow::Result<()> {
    match command {
        PersonCommand::Export { search, folder } => export(search, folder).await,
        PersonCommand::Erase { mode, search } => erase(search, *mode).await,
    }
}

impl SearchArgs {
    async fn search(&self) -> anyhow::Result<(PersonalDataStores, PersonId, PersonalData)> {
        let key = &self.key.person_key;
        let person = key.person(&EmailAddress::parse(&self.email)?);
        let stores = PersonalDataStores::open(&self.common.nats, &self.store, key).await?;
        let found = stores.search(&person, &BTreeSet::new()).await?;
        Ok((stores, person, found))
    }

    fn print(
        &self,
        document: &Value,
        heading: &str,
        found: &PersonalData,
        further: Vec<String>,
    ) -> anyhow::Result<()> {
        let summary = found.summary(&self.store.s3_bucket);
        let lines = iter::once(heading.to_owned()).chain(summary).chain(further);
        print_output(self.common.json, document, lines)
    }
}

async fn export(args: &SearchArgs, to: &Path) -> anyhow::Result<()> {
    if to.exists() {
        let named = to.display();
        let mut entries = fs::read_dir(to).with_context(|| format!("{named} is not a readable folder"))?;
        ensure!(entries.next().is_none(), "The folder {named} is not empty.");
    }
    let (stores, person, found) = args.search().await?;
    let written = write(to, &stores, &found).await;
    written.with_context(|| format!("not all data were written to {}", to.display()))?;
    let document = json!({ "person": person, "exported": found.counts(), "to": to });
    let heading = format!("Exported to {}:", to.display());
    args.print(&document, &heading, &found, Vec::new())
}

async fn erase(args: &SearchArgs, mode: Mode) -> anyhow::Result<()> {
    let (stores, person, found) = args.search().await?;
    let holders = stores.holders(&found).await?;
    let mut lines = holder_lines(&holders);
    if !mode.yes {
        let counts = found.counts();
        let document = json!({ "person": person, "wouldErase": counts, "heldElsewhere": holders });
        let heading = "Nothing was erased; repeat it with --yes. Would erase:";
        return args.print(&document, heading, &found, lines);
    }
    let in_a_line = lines.join(" ");
    let erasure = stores.erase(&person, &found).await;
    // The error names the endpoints with data, because a repeated command may no longer find them.
    let erasure = erasure.with_context(|| format!("not everything was erased; repeat it. {in_a_line}"))?;
    let left = stores.search(&person, &found.event_ids()).await?;
    ensure!(
        left.is_nothing(),
        "Not everything was erased, or new data arrived; repeat it. Left: {}. {in_a_line}",
        left.summary(&args.store.s3_bucket).join(", ")
    );
    let document = json!({
        "person": person, "erased": found.counts(), "told": erasure, "heldElsewhere": holders,
    });
    let notice = format!("Webhook endpoints with person.erased are notified by event {erasure}.");
    lines.insert(0, notice);
    args.print(&document, "Erased, with nothing left:", &found, lines)
}

fn holder_lines(holders: &[Holder]) -> Vec<String> {
    if holders.is_empty() {
        return vec!["No endpoint of webhooks is known to have received their data.".to_owned()];
    }
    let heading = "Also held by webhook endpoints:".to_owned();
    let lines = holders.iter().map(|holder| {
        let events = match (holder.sent, holder.may_have_been_sent) {
            (0, may) => format!("may have been sent {may} of their events"),
            (sent, 0) => format!("was sent {sent} of their events"),
            (sent, may) => format!("was sent {sent} of their events, and may have been sent {may} more"),
        };
        format!("{}: {events}; {}", holder.endpoint, holder.notice)
    });
    iter::once(heading).chain(lines).collect()
}

/// Converts a message to JSON.
type Document = fn(&StreamMessage) -> Value;

/// Writes the data into a folder that only its owner may open.
async fn write(to: &Path, stores: &PersonalDataStores, found: &PersonalData) -> anyhow::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(to)?;
    fs::set_permissions(to, Permissions::from_mode(0o700))?;
    let files: [(&str, Place, Document); 5] = [
        ("events.json", EVENTS, event),
        ("dead-letters.json", DEAD_LETTERS, dead_letters::document),
        ("sendings.json", SENDINGS, event),
        ("deliveries.json", DELIVERIES, record),
        ("visitor-mails.json", VISITOR_MAILS, record),
    ];
    for (name, place, document) in files {
        let documents: Vec<Value> = found.of(place).iter().map(document).collect();
        fs::write(to.join(name), serde_json::to_vec_pretty(&documents)?)?;
    }
    if let Some(subscriber) = found.of(SUBSCRIBER).first() {
        let subscriber = serde_json::to_vec_pretty(&record(subscriber))?;
        fs::write(to.join("subscriber.json"), subscriber)?;
    }
    for key in &found.resumes {
        let folder = to.join("resumes").join(key.attempt());
        fs::create_dir_all(&folder)?;
        let content = stores.resumes.get(key).await?;
        fs::write(folder.join(found.file_name_of(key)), content)?;
    }
    Ok(())
}

fn event(message: &StreamMessage) -> Value {
    json!({
        "number": message.sequence,
        "subject": message.subject.as_str(),
        "stored": message.time.format(&Rfc3339).ok(),
        "event": broker::content(message),
    })
}

fn record(message: &StreamMessage) -> Value {
    json!({
        "key": message.subject.as_str(),
        "stored": message.time.format(&Rfc3339).ok(),
        "value": broker::content(message),
    })
}
