//! `sitectl newsletter send` and `test`.

use ::subscribers::{Subscribers, audience::NotReached};
use anyhow::{Context as _, ensure};
use async_nats::jetstream::{Context, message::PublishMessage};
use clap::Args;
use futures_util::TryStreamExt as _;
use serde_json::json;
use site_broker::{Publisher, ensure_person_key};
use site_events::{
    EventType, IssueId, SENDINGS_STREAM, SITE_STREAM, Sending,
    event::{Audience, NewsletterIssueRequested},
    subjects,
};
use site_service::RequestId;
use subscribers::issues::{IssueProgress, IssueState, Issues, Outcomes, PassedOver};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::{EmailAddress, PersonKeySettings};

use super::{PostArgs, control::known, post};
use crate::{
    broker,
    common_args::{CommonArgs, Mode},
    output::print_output,
};

const NOTHING_SENT: &str = "Nothing was sent; repeat it with --yes.";

#[derive(Args, Debug)]
pub struct SendArgs {
    #[command(flatten)]
    post: PostArgs,
    /// Sends an earlier issue again, only to subscribers whose mail was rejected by the mail server
    #[arg(long)]
    pub refused: bool,
    #[command(flatten)]
    mode: Mode,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Args, Debug)]
pub struct TestArgs {
    #[command(flatten)]
    post: PostArgs,
    /// Recipient; repeatable
    #[arg(long, value_name = "E-MAIL", required = true, value_parser = EmailAddress::parse)]
    to: Vec<EmailAddress>,
    #[command(flatten)]
    key: PersonKeySettings,
    #[command(flatten)]
    common: CommonArgs,
}

/// Sends an issue, or prints how many subscribers it would reach.
///
/// # Errors
///
/// If the name is taken, there is no confirmed subscriber, or the broker does not store the issue.
pub async fn send(args: &SendArgs) -> anyhow::Result<()> {
    let (common, now) = (&args.common, OffsetDateTime::now_utc());
    let issue = post::read(&args.post, Audience::Subscribers).await?;
    let (name, id) = (issue.name.clone(), IssueId::named(&issue.name));
    let context = broker::connect(&common.nats).await?;
    let site = broker::stream(&context, SITE_STREAM).await?;
    let subject = EventType::NewsletterIssueRequested.subject(&id.as_subject());
    // An interrupted command may leave a record without an event, so only the event counts.
    ensure!(
        broker::next(&site, &subject, 1).await?.is_none(),
        "An issue named {name} was sent before. See `sitectl newsletter status {name}`, or name another issue with --name."
    );
    let (reached, not_reached) = reach(&context, now).await?;
    ensure!(reached > 0, "There is no confirmed subscriber to send it to.");
    let mut lines = vec![
        format!("Subject: {}", issue.subject),
        format!("Its links lead to {}.", args.post.site_url),
        format!("Recipients: {reached}."),
    ];
    lines.extend(not_reached_line(&not_reached));
    let reach = json!({ "reached": reached, "notReached": not_reached });
    if !args.mode.yes {
        lines.push(NOTHING_SENT.to_owned());
        return print_output(common.json, &json!({ "name": name, "wouldReach": reach }), lines);
    }
    // The record comes first, so that the issue can be paused from the first mail on.
    let issues = Issues::open(&context).await?;
    let revision = issues.progress(id).await?.revision;
    let progress = IssueProgress::new(name.clone(), issue.subject.clone(), now);
    issues.write_progress(id, &progress, revision).await?;
    publish(&context, id, issue).await?;
    lines.push(format!(
        "It is on its way; see `sitectl newsletter status {name}`."
    ));
    let document = json!({ "name": name, "issue": id, "reach": reach });
    print_output(common.json, &document, lines)
}

/// Number of subscribers that an issue would reach now, and of those that it would not, by reason.
async fn reach(context: &Context, now: OffsetDateTime) -> anyhow::Result<(u64, PassedOver)> {
    let subscribers = Subscribers::open(context.client()).await?;
    let (mut reached, mut not_reached) = (0, PassedOver::default());
    let mut records = subscribers.since(1);
    while let Some(record) = records.try_next().await? {
        match subscribers.record_of(&record) {
            Ok(None) => {}
            Ok(Some((_, subscriber))) => match subscriber.reached_at(now) {
                Ok(_) => reached += 1,
                Err(why) => not_reached.count(why),
            },
            Err(_) => not_reached.count(NotReached::Unreadable),
        }
    }
    Ok((reached, not_reached))
}

/// Line with the reasons why subscribers are not reached, if any.
pub fn not_reached_line(not_reached: &PassedOver) -> Option<String> {
    let reasons = json!(not_reached);
    let reasons = reasons.as_object().into_iter().flatten();
    let reasons = reasons.filter(|(_, count)| **count != 0);
    let reasons: Vec<String> = reasons.map(|(why, count)| format!("{count} {why}")).collect();
    (!reasons.is_empty()).then(|| format!("Not reached: {}.", reasons.join(", ")))
}

/// # Errors
///
/// If the broker does not store the issue.
pub async fn test(args: &TestArgs) -> anyhow::Result<()> {
    let TestArgs { to, common, .. } = args;
    let key = &args.key.person_key;
    let post = post::read(&args.post, Audience::Test).await?;
    let context = broker::connect(&common.nats).await?;
    ensure_person_key(&context, key).await?;
    let issue = IssueId::of_test();
    publish(&context, issue, post).await?;
    for address in to {
        let sending = Sending {
            id: issue.sending_id(Uuid::new_v4()),
            subject: key.person(address),
            requestid: issue.to_string(),
            issue,
            test: Some(address.clone()),
        };
        publish_sending(&context, &sending).await?;
    }
    let line = format!("On their way: {} test mail(s).", to.len());
    print_output(common.json, &json!({ "sent": to.len() }), [line])
}

/// Sends an issue again to subscribers whose mail was rejected, except those who unsubscribed. The text is
/// the stored one, not the file's. A dry run prints the number of these subscribers.
///
/// # Errors
///
/// If the issue is unknown or canceled, or the broker does not store a mail. The command can be repeated.
pub async fn repeat_refused(args: &SendArgs) -> anyhow::Result<()> {
    let (name, common) = (args.post.name(), &args.common);
    let context = broker::connect(&common.nats).await?;
    let (progress, _) = known(&Issues::open(&context).await?, &name).await?;
    let is_canceled = progress.state == IssueState::Canceled;
    ensure!(!is_canceled, "The issue {name} is canceled.");
    let refused = Outcomes::read(&context).await?.refused(&progress);
    let count = refused.len();
    if !args.mode.yes {
        let line = format!("It goes again to {count} whose mail was rejected.");
        let lines = [line, NOTHING_SENT.to_owned()];
        return print_output(common.json, &json!({ "name": name, "wouldReach": count }), lines);
    }
    for sending in &refused {
        publish_sending(&context, sending).await?;
    }
    let line = format!("On their way again: {count} mail(s); see `sitectl newsletter status {name}`.");
    print_output(common.json, &json!({ "name": name, "sent": count }), [line])
}

async fn publish(
    context: &Context,
    issue: IssueId,
    requested: NewsletterIssueRequested,
) -> anyhow::Result<()> {
    let (publisher, request_id) = (Publisher::new(context.client()), RequestId::accept(None));
    let (event, subject) = (issue.event_id(), issue.as_subject());
    let published = publisher.publish(&request_id, event, &subject, requested).await;
    published.context("the broker did not confirm the issue; repeat the command")?;
    Ok(())
}

/// Queues a mail with a new message id: the rejected mail's id would be a duplicate.
async fn publish_sending(context: &Context, sending: &Sending) -> anyhow::Result<()> {
    let subject = subjects::sending(&sending.issue.to_string(), sending.subject.as_str());
    let message = PublishMessage::build()
        .payload(serde_json::to_vec(sending)?.into())
        .message_id(Uuid::new_v4().to_string())
        .expected_stream(SENDINGS_STREAM);
    let stored = context.send_publish(subject, message).await?.await;
    stored.context("the broker did not confirm every mail; repeat the command")?;
    Ok(())
}
