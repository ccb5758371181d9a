//! A folder at an IMAP server: a mail is unseen until somebody has read it, as one of a maildir is new.

use std::time::Duration;

use anyhow::Context as _;
use futures_util::TryStreamExt as _;
use mail_reports::report_mail::MAX_BYTES;
use tokio::time::timeout;

use crate::imap::{Account, Session};

/// How long the server may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// The folder.
pub struct ImapFolder(Session);

impl ImapFolder {
    /// Opens it.
    ///
    /// # Errors
    ///
    /// If the server does not let us, or there is no such folder.
    pub async fn open(account: &Account<'_>) -> anyhow::Result<Self> {
        Ok(Self(account.open().await?))
    }

    /// The mails that nobody has seen, oldest first.
    ///
    /// # Errors
    ///
    /// If the server does not say so.
    pub async fn unseen_mails(&mut self) -> anyhow::Result<Vec<u32>> {
        let found = in_time(self.0.uid_search("UNSEEN UNDELETED")).await?;
        let mut mails: Vec<u32> = found.into_iter().collect();
        mails.sort_unstable();
        Ok(mails)
    }

    /// The beginning of a mail, which stays unseen; nothing where it is not there any more.
    ///
    /// # Errors
    ///
    /// If the server does not hand it out.
    pub async fn read(&mut self, mail: u32) -> anyhow::Result<Option<Vec<u8>>> {
        let query = format!("BODY.PEEK[]<0.{MAX_BYTES}>");
        let reading = async {
            let answers = self.0.uid_fetch(mail.to_string(), query).await?;
            answers.try_collect::<Vec<_>>().await
        };
        let answers = in_time(reading).await?;
        let mut bodies = answers.iter().filter_map(|answer| answer.body());
        Ok(bodies.next().map(<[u8]>::to_vec))
    }

    /// Notes that a mail was read.
    ///
    /// # Errors
    ///
    /// If the server does not note it.
    pub async fn mark_seen(&mut self, mail: u32) -> anyhow::Result<()> {
        let noting = async {
            let answers = self.0.uid_store(mail.to_string(), "+FLAGS (\\Seen)").await?;
            answers.try_collect::<Vec<_>>().await
        };
        in_time(noting).await.map(drop)
    }

    /// Logs out. What was noted stays, however that ends.
    pub async fn close(mut self) {
        let _ended = timeout(ANSWER_TIMEOUT, self.0.logout()).await;
    }
}

async fn in_time<T>(asking: impl Future<Output = async_imap::error::Result<T>>) -> anyhow::Result<T> {
    let answered = timeout(ANSWER_TIMEOUT, asking).await;
    let seconds = ANSWER_TIMEOUT.as_secs();
    Ok(answered.with_context(|| format!("the IMAP server did not answer within {seconds} s"))??)
}
