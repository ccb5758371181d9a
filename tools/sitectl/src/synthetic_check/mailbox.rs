//! The inbox that a check's mail comes to.

use clap::Args;
use futures_util::TryStreamExt as _;
use site_service::settings::Secret;
use time::{OffsetDateTime, macros::format_description};

use crate::imap::{Account, Session};

/// How old a check's mail is that nobody looks for any more.
const KEPT: time::Duration = time::Duration::days(2);

/// Where the inbox is. It is the check's own: what it finds of checks it removes.
#[derive(Args, Debug)]
pub struct MailboxSettings {
    /// Host name of the IMAP server
    #[arg(long, env = "IMAP_HOST")]
    imap_host: String,
    /// Port of the IMAP server, which speaks TLS from the first byte
    #[arg(long, env = "IMAP_PORT", default_value_t = 993)]
    imap_port: u16,
    /// User name at the IMAP server
    #[arg(long, env = "IMAP_USER")]
    imap_user: String,
    /// Password at the IMAP server
    #[arg(long, env = "IMAP_PASSWORD", hide_env_values = true)]
    imap_password: Secret,
}

/// The inbox, open.
pub struct Mailbox(Session);

impl Mailbox {
    /// Logs in.
    ///
    /// # Errors
    ///
    /// If the server is not reached, is not who it should be, or does not let us in.
    pub async fn open(settings: &MailboxSettings) -> anyhow::Result<Self> {
        let account = Account {
            host: &settings.imap_host,
            port: settings.imap_port,
            user: &settings.imap_user,
            password: &settings.imap_password,
            folder: "INBOX",
        };
        Ok(Self(account.open().await?))
    }

    /// Whether there is a mail whose `Message-ID` holds this; it is removed.
    ///
    /// # Errors
    ///
    /// If the server does not answer as it should.
    pub async fn take(&mut self, message_id: &str) -> anyhow::Result<bool> {
        // New mails are told of with the answer to this.
        self.0.noop().await?;
        self.remove(&format!("HEADER Message-ID \"{message_id}\"")).await
    }

    /// Removes mails of checks that came too late for theirs, and logs out. What fails, the next check does.
    pub async fn tidy(mut self) {
        let format = format_description!("[day padding:none]-[month repr:short]-[year]");
        if let Ok(day) = (OffsetDateTime::now_utc() - KEPT).format(format) {
            let _ = self.remove(&format!("HEADER X-Event-Id \"\" BEFORE {day}")).await;
        }
        let _ = self.0.logout().await;
    }

    async fn remove(&mut self, query: &str) -> anyhow::Result<bool> {
        let found = self.0.uid_search(query).await?;
        if found.is_empty() {
            return Ok(false);
        }
        let uids: Vec<String> = found.iter().map(u32::to_string).collect();
        let deleted = self.0.uid_store(uids.join(","), "+FLAGS (\\Deleted)").await?;
        deleted.try_collect::<Vec<_>>().await?;
        self.0.expunge().await?.try_collect::<Vec<_>>().await?;
        Ok(true)
    }
}
