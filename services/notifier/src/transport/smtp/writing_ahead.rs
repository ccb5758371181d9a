//! How many mails are written before there is a connection for them.

use std::{
    future::ready,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use clap::Parser;
use futures_util::future::join_all;
use lettre::Message;
use testkit::{MailServer, ScriptedReply, eventually, free_ports};

use super::{ChannelLimit, SmtpError, SmtpPool, SmtpSettings, limits::MAX_CONNECTIONS};

/// More than may be written.
const MAILS: usize = 20;
/// Longer than it takes to write them, and shorter than until those on a connection are slow.
const SOON: Duration = Duration::from_millis(500);

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    smtp: SmtpSettings,
}

fn pool_to(port: u16) -> anyhow::Result<SmtpPool> {
    let flags = ["notifier", "--smtp-tls=none", &format!("--smtp-port={port}")];
    SmtpPool::new(&Flags::try_parse_from(flags)?.smtp, 1)
}

fn message() -> anyhow::Result<Message> {
    let addressed = Message::builder()
        .from("sales@oculant.example".parse()?)
        .to("asha.rao@example.com".parse()?);
    Ok(addressed.body("text".to_owned())?)
}

/// How many of those that are to be sent at once are written soon.
async fn written(pool: &SmtpPool, attachment_bytes: u64) -> anyhow::Result<usize> {
    let (limit, message, written) = (ChannelLimit::new(), message()?, AtomicUsize::new(0));
    let write = || {
        written.fetch_add(1, Ordering::Relaxed);
        ready(Ok::<_, SmtpError>(Some(message.clone())))
    };
    let sending = (0..MAILS).map(|_| pool.send("key", &limit, attachment_bytes, write));
    let _not_done = tokio::time::timeout(SOON, join_all(sending)).await;
    Ok(written.into_inner())
}

#[tokio::test]
async fn a_few_mails_are_written_ahead_of_their_connection_and_none_with_an_attachment() -> anyhow::Result<()>
{
    for (attachment_bytes, expected) in [(0, 2 * MAX_CONNECTIONS + 2), (1, MAX_CONNECTIONS)] {
        let server = MailServer::start(|_, _| ScriptedReply::Hold).await?;
        let pool = pool_to(server.port)?;
        assert_eq!(written(&pool, attachment_bytes).await?, expected);
        eventually("its connections are used", SOON, async || {
            (server.counts().begun == MAX_CONNECTIONS).then_some(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn while_the_server_is_away_nothing_is_written() -> anyhow::Result<()> {
    let [nobody] = free_ports::<1>()?;
    let pool = pool_to(nobody)?;
    let message = message()?;
    let write = || ready(Ok::<_, SmtpError>(Some(message.clone())));
    let asked = pool.send("first", &ChannelLimit::new(), 0, write).await;
    assert!(asked.is_err(), "nobody is there");
    let written = written(&pool, 0).await?;
    assert!(written <= 1, "one of {written} may ask again");
    Ok(())
}
