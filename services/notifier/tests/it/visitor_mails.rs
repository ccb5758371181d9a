//! Limit of mails to one visitor per day, whatever is typed into the forms.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use site_events::Channel;
use testkit::{MailServer, Nats, ScriptedReply};
use uuid::Uuid;

use crate::running::{
    HURRY, Running, SALES, Site, application, parts, settings, take, until, until_all_is_done,
};

const VISITOR: &str = "zoe@example.org";

async fn at_most(mails: usize, nats: &Nats, server: &MailServer) -> anyhow::Result<Running> {
    let mut settings = settings(nats, server.port, &[])?;
    settings.max_visitor_mails_per_day = mails;
    settings.retries.initial_backoff = HURRY;
    Running::start_with(settings).await
}

/// Counts withheld mails. Fails if an event has no record.
async fn withheld(site: &Site, channel: Channel, events: &[Uuid]) -> anyhow::Result<usize> {
    site.recorded_as("withheld 2", channel, events).await
}

#[tokio::test]
async fn beyond_the_daily_limit_only_sales_get_mails() -> anyhow::Result<()> {
    const ONE_INBOX: [&str; 4] = [
        "zoe+0@example.org",
        VISITOR,
        "ZOE@EXAMPLE.ORG",
        "Zoe+1+2@example.org",
    ];
    let (nats, server, site) = parts(take).await?;
    let notifier = at_most(2, &nats, &server).await?;
    let mut events = Vec::new();
    for spelled in ONE_INBOX {
        events.push(site.contact(spelled).await?);
    }
    for other in ["asha@example.org", "zo+e@example.org"] {
        site.contact(other).await?;
    }
    until_all_is_done(&nats).await?;

    assert_eq!(server.accepted(SALES).len(), 6);
    for other in ["asha@example.org", "zo+e@example.org"] {
        assert_eq!(server.accepted(other).len(), 1, "{other}");
    }
    let acknowledgements = withheld(&site, Channel::ContactAcknowledgement, &events).await?;
    assert_eq!(acknowledgements, 2, "two of four mails to one inbox may go");
    assert_eq!(withheld(&site, Channel::SalesLead, &events).await?, 0);
    assert_eq!(nats.events().await?.len(), 6, "each event is stored");
    assert!(nats.dead_letters().await?.is_empty());

    // Mails of other kinds are still sent.
    let sign_up = site.request_newsletter(VISITOR).await?;
    let applied = site.publish(VISITOR, application(VISITOR)?).await?;
    until_all_is_done(&nats).await?;
    for (channel, event) in [
        (Channel::NewsletterConfirmation, sign_up),
        (Channel::ApplicationAcknowledgement, applied),
    ] {
        assert_eq!(withheld(&site, channel, &[event]).await?, 0, "{channel:?}");
    }

    // A withheld mail stays withheld, even by a notifier with a higher limit.
    drop(notifier);
    let _other = Running::start(&nats, server.port, &[]).await?;
    for event in &events {
        site.publish_again(&nats, *event).await?;
    }
    until_all_is_done(&nats).await?;
    let acknowledgements = withheld(&site, Channel::ContactAcknowledgement, &events).await?;
    assert_eq!(acknowledgements, 2);
    assert_eq!(server.accepted(SALES).len(), 6);
    Ok(())
}

#[tokio::test]
async fn a_mail_that_is_tried_again_counts_once() -> anyhow::Result<()> {
    let refusing = Arc::new(AtomicBool::new(true));
    let refuses = refusing.clone();
    let (nats, server, site) = parts(move |_, _| match refuses.load(Ordering::Relaxed) {
        true => ScriptedReply::ToContent("451 4.7.1 Greylisted, try again later"),
        false => ScriptedReply::Take,
    })
    .await?;
    let mut notifier = at_most(2, &nats, &server).await?;
    let events = [site.contact(VISITOR).await?, site.contact(VISITOR).await?];
    until("both mails fail twice", || server.attempts(VISITOR) >= 4).await?;
    // Another notifier continues, as after a crash.
    notifier.tell_to_stop();
    notifier.stopped().await?;
    refusing.store(false, Ordering::Relaxed);
    let _notifier = at_most(2, &nats, &server).await?;
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
    let (nats, server, site) = parts(take).await?;
    let mut events = Vec::new();
    for _ in 0..MESSAGES {
        events.push(site.contact(VISITOR).await?);
    }
    let _both = tokio::try_join!(at_most(3, &nats, &server), at_most(3, &nats, &server))?;
    until_all_is_done(&nats).await?;
    assert_eq!(server.accepted(VISITOR).len(), 3);
    assert_eq!(server.accepted(SALES).len(), MESSAGES);
    let withheld = withheld(&site, Channel::ContactAcknowledgement, &events).await?;
    assert_eq!(withheld, MESSAGES - 3);
    Ok(())
}
