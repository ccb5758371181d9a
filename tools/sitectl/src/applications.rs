//! `sitectl applications`: applications at hand without any other tool, and links to their résumés, of which those in mails end.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use futures_util::TryStreamExt as _;
use resumes::{ResumeStore, S3Settings};
use serde_json::json;
use site_events::{
    Attribution, SITE_STREAM,
    event::{CareersApplied, StoredResume},
};
use uuid::Uuid;

use crate::{
    broker,
    common_args::CommonArgs,
    event_export::{Columns, EventSelection, campaign_of, export, list, read},
    output::print_output,
};

/// Which of the commands, and what it needs to know.
#[derive(Args, Debug)]
pub struct ApplicationsArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Lists applications, a row for each
    List(ApplicationsSelection),
    /// Writes applications to stdout, as CSV
    Export(ApplicationsSelection),
    /// Prints a new link to the résumé of an application
    Link(LinkArgs),
}

/// Which applications.
#[derive(Args, Debug)]
struct ApplicationsSelection {
    /// Only those for positions that hold this text
    #[arg(long)]
    position: Option<String>,
    #[command(flatten)]
    events: EventSelection,
}

impl ApplicationsSelection {
    fn takes(&self, application: &CareersApplied) -> bool {
        let wanted = self.position.as_deref();
        wanted.is_none_or(|wanted| application.position.contains(wanted))
    }
}

/// Whose résumé, and for how long.
#[derive(Args, Debug)]
struct LinkArgs {
    /// The id of the application, as its mail and the list tell it
    #[arg(value_name = "ID")]
    id: Uuid,
    /// How many hours the link is good, at most 168
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=168))]
    hours: u64,
    /// Address under which recruiters reach the store, where it differs from S3_ENDPOINT
    #[arg(long, env = "S3_PUBLIC_ENDPOINT", value_parser = resumes::endpoint)]
    s3_public_endpoint: Option<String>,
    /// The bucket of résumés
    #[command(flatten)]
    store: S3Settings,
    #[command(flatten)]
    common: CommonArgs,
}

/// Does what was asked for.
///
/// # Errors
///
/// If the broker does not answer, nobody takes what is written, or there is no such résumé.
pub async fn run(args: &ApplicationsArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::List(selection) => list(&selection.events, |one| selection.takes(one)).await,
        Command::Export(selection) => export(&selection.events, |one| selection.takes(one)).await,
        Command::Link(args) => link(args).await,
    }
}

async fn link(args: &LinkArgs) -> anyhow::Result<()> {
    let resume = resume_of(args).await?;
    let found = ResumeStore::new(&args.store).open(&resume.key).await?;
    ensure!(
        found.is_some(),
        "The résumé is not there any more; a link would lead nowhere."
    );
    let public = args.store.for_links(args.s3_public_endpoint.as_deref());
    let lifetime = Duration::from_secs(args.hours * 60 * 60);
    let link = ResumeStore::new(&public)
        .presigned_url(&resume.key, &resume.file_name, lifetime)
        .await?;
    print_output(
        args.common.json,
        &json!({ "id": args.id, "link": link, "hours": args.hours }),
        [link.clone()],
    )
}

async fn resume_of(args: &LinkArgs) -> anyhow::Result<StoredResume> {
    let context = broker::connect(&args.common.nats).await?;
    let site = broker::reader(&context, SITE_STREAM).await?;
    let mut events = broker::all(&site);
    while let Some(message) = events.try_next().await? {
        if let Some(event) = read::<CareersApplied>(&message).filter(|event| event.id == args.id) {
            let resume = event.data.resume;
            return resume.with_context(|| format!("The application {} came without a résumé.", args.id));
        }
    }
    anyhow::bail!(
        "There is no application {}; see `sitectl applications list`.",
        args.id
    )
}

impl Columns for CareersApplied {
    const PLURAL: &'static str = "applications";
    const NAMES: &'static [&'static str] = &[
        "name",
        "email",
        "phone",
        "position",
        "experience",
        "coverLetter",
        "resume",
        "page",
        "referrer",
        "campaign",
    ];
    const LISTED: &'static [&'static str] = &["name", "email", "position", "campaign"];

    fn cells(&self) -> Vec<String> {
        let attribution = self.attribution.clone().unwrap_or_default();
        let resume = self.resume.as_ref().map(|resume| resume.file_name.clone());
        vec![
            self.name.clone(),
            self.email.as_str().to_owned(),
            self.phone.clone().unwrap_or_default(),
            self.position.clone(),
            self.experience.clone().unwrap_or_default(),
            self.cover_letter.clone(),
            resume.unwrap_or_default(),
            attribution.page.clone().unwrap_or_default(),
            attribution.referrer.clone().unwrap_or_default(),
            campaign_of(self.attribution.as_ref()),
        ]
    }

    fn attribution(&self) -> Option<&Attribution> {
        self.attribution.as_ref()
    }
}
