//! Mails as a mail server receives them.

use site_events::Channel;
use testkit::{eventually, seed_subscribers};

use crate::{
    issues::{Operator, PERSON_KEY},
    running::{SOON, scene, take},
};

const VISITOR: &str = "zoe@example.org";
/// Number of mails: one per channel, and an issue.
pub const KINDS: usize = Channel::ALL.len() + 1;

pub async fn every_mail(more: &[String]) -> anyhow::Result<Vec<String>> {
    let (nats, server, site, _notifier) = scene(more, take).await?;
    site.publish_every_type(VISITOR).await?;
    let readers = seed_subscribers(&nats, PERSON_KEY, [VISITOR.to_owned()]).await?;
    Operator::on(&nats).await?.send(&readers).await?;
    eventually("a mail of every kind", SOON, async || {
        let all = server.accepted_mails();
        let mails = all.iter().map(|mail| mail.content.replace('\n', "\r\n"));
        (all.len() == KINDS).then(|| mails.collect())
    })
    .await
}
