//! `sitectl newsletter bounces`: mails that came back, and complaints, read from the mailbox that they come to.
//!
//! What it believes is what our own mail says in a report: the link to unsubscribe, which is signed. A forged report can suppress
//! nobody whose mail its author has not read.

mod maildir;

use std::path::PathBuf;

use clap::Args;
use mail_reports::report_mail::{self, Reading, Report};
use serde::Serialize;
use serde_json::json;
use site_broker::Publisher;
use site_events::{
    EventData as _,
    event::{BounceKind, NewsletterBounced},
    sending::SENDING_NAME,
};
use site_service::RequestId;
use subscribers::Subscribers;
use time::OffsetDateTime;
use visitor::token::{Purpose, TokenKey, TokenKeys};

use self::maildir::Maildir;
use crate::{broker, common_args::CommonArgs, output::print_output};

/// Where the reports lie, and what shows that they are about our mails.
#[derive(Args, Debug)]
pub struct BouncesArgs {
    /// Folder (maildir) that mails come back to; what was read is marked as seen
    #[arg(long, value_name = "FOLDER")]
    maildir: PathBuf,
    /// Key of the tokens in mailed links, at least 32 bytes, the same in every service
    #[arg(long, env = "TOKEN_KEY", hide_env_values = true, value_parser = TokenKey::new)]
    token_key: TokenKey,
    /// The key of the tokens before it, while it changes
    #[arg(long, env = "TOKEN_KEY_FORMER", hide_env_values = true, value_parser = TokenKey::new)]
    token_key_former: Option<TokenKey>,
    #[command(flatten)]
    common: CommonArgs,
}

/// What was read.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    hard: usize,
    soft: usize,
    complaints: usize,
    /// Reports of a mail that is still tried.
    delayed: usize,
    /// What is no report, or none of a mail of ours.
    others: usize,
}

/// Reads what is new, and tells the newsletter service of it.
///
/// # Errors
///
/// If the folder cannot be read, or the broker does not answer: what was not told of is read again.
pub async fn bounces(args: &BouncesArgs) -> anyhow::Result<()> {
    let context = broker::connect(&args.common.nats).await?;
    let reader = Reader {
        publisher: Publisher::new(context.client()),
        subscribers: Subscribers::open(context.client()).await?,
        keys: TokenKeys::new(args.token_key.clone(), args.token_key_former.clone()),
    };
    let maildir = Maildir::open(&args.maildir)?;
    let mut counts = Counts::default();
    for mail in maildir.new_mails()? {
        match report_mail::read(&maildir.read(&mail)?) {
            Reading::Report(report) => reader.tell(&report, &mut counts).await?,
            Reading::Delayed => counts.delayed += 1,
            Reading::Other => counts.others += 1,
        }
        maildir.mark_seen(&mail)?;
    }
    let Counts {
        hard,
        soft,
        complaints,
        delayed,
        others,
    } = counts;
    let line = format!(
        "Came back for good: {hard}, for now: {soft}; complaints: {complaints}; still tried: {delayed}; not about our mails: {others}."
    );
    print_output(args.common.json, &json!(counts), [line])
}

struct Reader {
    publisher: Publisher,
    subscribers: Subscribers,
    keys: TokenKeys,
}

impl Reader {
    async fn tell(&self, report: &Report, counts: &mut Counts) -> anyhow::Result<()> {
        let now = OffsetDateTime::now_utc();
        let Ok(person) = self.keys.verify(&report.token, Purpose::Unsubscribe, now) else {
            counts.others += 1;
            return Ok(());
        };
        match report.kind {
            BounceKind::Hard => counts.hard += 1,
            BounceKind::Complaint => counts.complaints += 1,
            BounceKind::Soft | BounceKind::Unknown(_) => counts.soft += 1,
        }
        // Of whoever is not known any more nothing is told.
        let known = self.subscribers.find(&person).await?;
        let Some(email) = known.subscriber.and_then(|subscriber| subscriber.email) else {
            return Ok(());
        };
        let bounced = NewsletterBounced {
            email,
            channel: SENDING_NAME.to_owned(),
            reason: report.reason.clone(),
            kind: report.kind.clone(),
        };
        let id = NewsletterBounced::TYPE.id_for(report.mail);
        let request_id = RequestId::accept(None);
        self.publisher
            .publish(&request_id, id, &known.person, bounced)
            .await?;
        Ok(())
    }
}
