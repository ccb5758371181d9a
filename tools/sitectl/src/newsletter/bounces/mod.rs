//! `sitectl newsletter bounces`: mails that came back, and complaints, read from the mailbox that they come to.
//!
//! What it believes is what our own mail says in a report: the link to unsubscribe, which is signed. A forged report can suppress
//! nobody whose mail its author has not read.

mod imap_folder;
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
use site_service::{RequestId, settings::Secret};
use subscribers::Subscribers;
use time::OffsetDateTime;
use visitor::token::{Purpose, TokenKey, TokenKeys};

use self::{imap_folder::ImapFolder, maildir::Maildir};
use crate::{broker, common_args::CommonArgs, imap::Account, output::print_output, progress};

/// Where the reports lie, and what shows that they are about our mails.
#[derive(Args, Debug)]
pub struct BouncesArgs {
    /// Folder (maildir) that mails come back to; what was read is marked as seen
    #[arg(
        long,
        value_name = "FOLDER",
        required_unless_present = "imap_host",
        conflicts_with = "imap_host"
    )]
    maildir: Option<PathBuf>,
    /// Host name of the IMAP server that mails come back to; what was read is marked as seen
    #[arg(long, env = "IMAP_HOST", requires = "imap_user", requires = "imap_password")]
    imap_host: Option<String>,
    /// Port of the IMAP server, which speaks TLS from the first byte
    #[arg(long, env = "IMAP_PORT", default_value_t = 993)]
    imap_port: u16,
    /// User name at the IMAP server
    #[arg(long, env = "IMAP_USER")]
    imap_user: Option<String>,
    /// Password at the IMAP server
    #[arg(long, env = "IMAP_PASSWORD", hide_env_values = true)]
    imap_password: Option<Secret>,
    /// Folder at the IMAP server
    #[arg(long, env = "IMAP_FOLDER", default_value = "INBOX")]
    imap_folder: String,
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

impl BouncesArgs {
    fn account(&self) -> Option<Account<'_>> {
        Some(Account {
            host: self.imap_host.as_deref()?,
            port: self.imap_port,
            user: self.imap_user.as_deref()?,
            password: self.imap_password.as_ref()?,
            folder: &self.imap_folder,
        })
    }
}

/// Reads what is new, and tells the newsletter service of it.
///
/// # Errors
///
/// If the mailbox cannot be read, or the broker does not answer: what was not told of is read again.
pub async fn bounces(args: &BouncesArgs) -> anyhow::Result<()> {
    let context = broker::connect(&args.common.nats).await?;
    let reader = Reader {
        publisher: Publisher::new(context.client()),
        subscribers: Subscribers::open(context.client()).await?,
        keys: TokenKeys::new(args.token_key.clone(), args.token_key_former.clone()),
    };
    let mut counts = Counts::default();
    if let Some(folder) = &args.maildir {
        reader.read_maildir(&Maildir::open(folder)?, &mut counts).await?;
    }
    if let Some(account) = args.account() {
        let mut folder = ImapFolder::open(&account).await?;
        reader.read_imap_folder(&mut folder, &mut counts).await?;
        folder.close().await;
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
    async fn read_maildir(&self, maildir: &Maildir, counts: &mut Counts) -> anyhow::Result<()> {
        let mails = maildir.new_mails()?;
        for mail in progress::counted("mails", mails.len() as u64)?.wrap_iter(mails.iter()) {
            self.heed(&maildir.read(mail)?, counts).await?;
            maildir.mark_seen(mail)?;
        }
        Ok(())
    }

    async fn read_imap_folder(&self, folder: &mut ImapFolder, counts: &mut Counts) -> anyhow::Result<()> {
        let mails = folder.unseen_mails().await?;
        for mail in progress::counted("mails", mails.len() as u64)?.wrap_iter(mails.into_iter()) {
            if let Some(content) = folder.read(mail).await? {
                self.heed(&content, counts).await?;
                folder.mark_seen(mail).await?;
            }
        }
        Ok(())
    }

    async fn heed(&self, mail: &[u8], counts: &mut Counts) -> anyhow::Result<()> {
        match report_mail::read(mail) {
            Reading::Report(report) => self.tell(&report, counts).await?,
            Reading::Delayed => counts.delayed += 1,
            Reading::Other => counts.others += 1,
        }
        Ok(())
    }

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
