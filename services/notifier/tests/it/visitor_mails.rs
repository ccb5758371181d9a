//! Limit of mails to one visitor per day, whatever is typed into the forms.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use site_broker::VISITOR_MAILS_BUCKET;
use site_events::Channel;
use testkit::{MailServer, Nats, ScriptedReply, eventually};
use uuid::Uuid;
use visitor::{EmailAddress, InboxId, token::TokenKey};

use crate::running::{Running, SALES, SOON, Site, TOKEN_KEY, application, until_all_is_done};

const VISITOR: &str = "zoe@example.org";

fn at_most(mails: u32) -> [String; 1] {
    [format!("--visitor-mails-per-day={mails}")]
}

/// Each event must have a record.
async fn withheld(site: &Site, channel: Channel, events: &[Uuid]) -> anyhow::Result<usize> {
    site.recorded_as("withheld 2", channel, events).await
}

#[tokio::test]
async fn beyond_the_cap_a_visitor_gets_no_mail_and_sales_hear_of_every_message() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let notifier = Running::start(&nats, server.port, &at_most(2)).await?;
    let mut events = Vec::new();
    for spelled in [VISITOR, "Zoe@example.org", "ZOE@EXAMPLE.ORG", VISITOR] {
        events.push(site.contact(spelled).await?);
    }
    site.contact("asha@example.org").await?;
    until_all_is_done(&nats).await?;

    assert_eq!(server.accepted(SALES).len(), 5);
    assert_eq!(server.accepted("asha@example.org").len(), 1);
    let acknowledgements = withheld(&site, Channel::ContactAcknowledgement, &events).await?;
    assert_eq!(
        acknowledgements, 2,
        "four mails to one visitor, of whom two may go"
    );
    assert_eq!(withheld(&site, Channel::SalesLead, &events).await?, 0);
    assert_eq!(nats.events().await?.len(), 5, "each event is stored");
    assert!(nats.dead_letters().await?.is_empty());

    // A withheld mail stays so, even with a notifier that would send it.
    drop(notifier);
    let _other = Running::start(&nats, server.port, &[]).await?;
    for event in &events {
        site.publish_again(&nats, *event).await?;
    }
    until_all_is_done(&nats).await?;
    assert_eq!(
        withheld(&site, Channel::ContactAcknowledgement, &events).await?,
        acknowledgements
    );
    assert_eq!(server.accepted(SALES).len(), 5);
    Ok(())
}

#[tokio::test]
async fn mails_of_one_kind_use_up_nothing_of_what_another_kind_may_have() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &at_most(2)).await?;
    let mut messages = Vec::new();
    for _ in 0..4 {
        messages.push(site.contact(VISITOR).await?);
    }
    until_all_is_done(&nats).await?;
    assert_eq!(
        withheld(&site, Channel::ContactAcknowledgement, &messages).await?,
        2
    );

    let sign_up = site.request_newsletter(VISITOR).await?;
    let applied = site.publish(VISITOR, application(VISITOR)?).await?;
    until_all_is_done(&nats).await?;
    for (channel, event) in [
        (Channel::NewsletterConfirmation, sign_up),
        (Channel::ApplicationAcknowledgement, applied),
    ] {
        assert_eq!(withheld(&site, channel, &[event]).await?, 0, "{channel:?}");
    }
    assert_eq!(server.accepted(VISITOR).len(), 4);
    Ok(())
}

#[tokio::test]
async fn tags_of_one_address_share_what_its_inbox_may_get() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &at_most(2)).await?;
    let tagged = [
        "zoe+0@example.org",
        VISITOR,
        "Zoe+1@example.org",
        "zoe+1+2@example.org",
    ];
    let mut messages = Vec::new();
    for spelled in tagged {
        messages.push(site.contact(spelled).await?);
    }
    site.contact("zo+e@example.org").await?;
    until_all_is_done(&nats).await?;

    let mails: usize = tagged.iter().map(|spelled| server.accepted(spelled).len()).sum();
    assert_eq!(mails, 2, "they reach one inbox");
    assert_eq!(
        withheld(&site, Channel::ContactAcknowledgement, &messages).await?,
        2
    );
    assert_eq!(server.accepted("zo+e@example.org").len(), 1);
    assert_eq!(server.accepted(SALES).len(), 5);
    Ok(())
}

#[tokio::test]
async fn a_mail_that_is_tried_again_counts_once() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let refusing = Arc::new(AtomicBool::new(true));
    let refuses = refusing.clone();
    let server = MailServer::start(move |_, _| match refuses.load(Ordering::Relaxed) {
        true => ScriptedReply::ToContent("451 4.7.1 Greylisted, try again later"),
        false => ScriptedReply::Take,
    })
    .await?;
    let site = Site::on(&nats).await?;
    let mut notifier = Running::start(&nats, server.port, &at_most(2)).await?;
    let events = [site.contact(VISITOR).await?, site.contact(VISITOR).await?];
    eventually("both mails fail twice", SOON, async || {
        (server.attempts(VISITOR) >= 4).then_some(())
    })
    .await?;
    // As after a crash, another process continues.
    notifier.tell_to_stop();
    notifier.stopped().await?;
    refusing.store(false, Ordering::Relaxed);
    let _notifier = Running::start(&nats, server.port, &at_most(2)).await?;
    until_all_is_done(&nats).await?;
    assert_eq!(
        withheld(&site, Channel::ContactAcknowledgement, &events).await?,
        0
    );
    assert_eq!(server.accepted(VISITOR).len(), 2);
    Ok(())
}

#[tokio::test]
async fn notifiers_beside_each_other_count_together() -> anyhow::Result<()> {
    const MESSAGES: usize = 30;
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let mut events = Vec::new();
    for _ in 0..MESSAGES {
        events.push(site.contact(VISITOR).await?);
    }
    let flags = at_most(3);
    let _both = tokio::try_join!(
        Running::start(&nats, server.port, &flags),
        Running::start(&nats, server.port, &flags),
    )?;
    until_all_is_done(&nats).await?;
    assert_eq!(server.accepted(VISITOR).len(), 3);
    assert_eq!(server.accepted(SALES).len(), MESSAGES);
    let withheld = withheld(&site, Channel::ContactAcknowledgement, &events).await?;
    assert_eq!(withheld, MESSAGES - 3);
    Ok(())
}

#[tokio::test]
async fn a_record_that_nobody_can_read_holds_back_no_mail() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let inbox = InboxId::of(&EmailAddress::parse(VISITOR)?, &TokenKey::new(TOKEN_KEY)?);
    site.note(VISITOR_MAILS_BUCKET, inbox.as_str(), "broken").await?;
    let _notifier = Running::start(&nats, server.port, &at_most(1)).await?;
    site.contact(VISITOR).await?;
    until_all_is_done(&nats).await?;
    assert_eq!(server.accepted(VISITOR).len(), 1);
    Ok(())
}
