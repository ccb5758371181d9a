//! `sitectl applications`: lists and exports applications, and prints new links to résumés, because links in mails
//! expire.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand};
use futures_util::TryStreamExt as _;
use resumes::{ResumeStore, S3Settings};
use serde::Deserialize as _;
use serde_json::json;
use site_events::{EventType, SITE_STREAM, event::StoredResume};
use uuid::Uuid;

use crate::{
    broker,
    common_args::CommonArgs,
    event_export::{EventSelection, Form, Style, read},
    output::print_output,
};

const APPLICATIONS: Form = Form {
    plural: "applications",
    event_type: EventType::CareersApplied,
    more: &["resume"],
    listed: &["name", "email", "position", "campaign"],
};

#[derive(Subcommand, Debug)]
pub enum ApplicationsCommand {
    /// Lists applications
    List(ApplicationsSelection),
    /// Writes applications to stdout, as CSV
    Export(ApplicationsSelection),
    /// Prints a new link to the résumé of an application
    Link(LinkArgs),
}

/// Selection of applications.
#[derive(Args, Debug)]
pub struct ApplicationsSelection {
    /// Only applications whose position contains this text
    #[arg(long)]
    position: Option<String>,
    #[command(flatten)]
    events: EventSelection,
}

impl ApplicationsSelection {
    async fn print(&self, style: Style) -> anyhow::Result<()> {
        let position = self.position.as_deref();
        APPLICATIONS.print(style, &self.events, position).await
    }
}

/// Arguments of `sitectl applications link`.
#[derive(Args, Debug)]
pub struct LinkArgs {
    /// Id of the application, from its mail or the list
    #[arg(value_name = "ID")]
    id: Uuid,
    /// Lifetime of the link in hours, at most 168, or 1 with a web identity
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=168))]
    hours: u64,
    /// Address under which recruiters reach the store, where it differs from S3_ENDPOINT
    #[arg(long, env = "S3_PUBLIC_ENDPOINT", value_parser = resumes::endpoint)]
    s3_public_endpoint: Option<String>,
    #[command(flatten)]
    store: S3Settings,
    #[command(flatten)]
    common: CommonArgs,
}

/// # Errors
///
/// If the broker is unavailable, the output cannot be written, or the résumé does not exist.
pub async fn run(command: &ApplicationsCommand) -> anyhow::Result<()> {
    match command {
        ApplicationsCommand::List(selection) => selection.print(Style::List).await,
        ApplicationsCommand::Export(selection) => selection.print(Style::Export).await,
        ApplicationsCommand::Link(args) => link(args).await,
    }
}

async fn link(args: &LinkArgs) -> anyhow::Result<()> {
    let resume = resume_of(args).await?;
    let found = ResumeStore::new(&args.store).object(&resume.key).await?;
    ensure!(found.is_some(), "The résumé no longer exists.");
    let lifetime = args
        .store
        .link_lifetime(Duration::from_secs(args.hours * 60 * 60));
    let store = ResumeStore::for_links(&args.store, args.s3_public_endpoint.as_deref());
    let link = store
        .presigned_url(&resume.key, &resume.file_name, lifetime)
        .await?;
    let document = json!({ "id": args.id, "link": link, "hours": lifetime.as_secs() / (60 * 60) });
    print_output(args.common.json, &document, [link])
}

async fn resume_of(args: &LinkArgs) -> anyhow::Result<StoredResume> {
    let context = broker::connect(&args.common.nats).await?;
    let site = broker::reader(&context, SITE_STREAM).await?;
    let mut events = site.all();
    while let Some(message) = events.try_next().await? {
        if let Some(event) = read(&message, EventType::CareersApplied)
            && event["id"] == args.id.to_string()
        {
            let resume = StoredResume::deserialize(&event["data"]["resume"]).ok();
            return resume.with_context(|| format!("The application {} came without a résumé.", args.id));
        }
    }
    bail!(
        "There is no application {}; see `sitectl applications list`.",
        args.id
    )
}
