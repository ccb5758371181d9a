//! `sitectl newsletter send` and `test`.

use anyhow::{Context as _, bail, ensure};
use async_nats::jetstream::{Context, message::PublishMessage};
use clap::Args;
use issues::{IssueProgress, IssueState, Issues, Outcomes};
use serde_json::json;
use site_broker::{Publisher, RecordError, ensure_person_key};
use site_events::{
    EventType, IssueId, SENDINGS_STREAM, SITE_STREAM, Sending,
    event::{Audience, NewsletterIssueRequested},
    subjects,
};
use site_service::RequestId;
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::{EmailAddress, PersonKeySettings};

use super::{PostArgs, control::known, post::Post, reach::Reach};
use crate::{
    broker,
    common_args::{CommonArgs, Mode, ModeArgs},
    output::print_output,
};

/// An issue for all who confirmed.
#[derive(Args, Debug)]
pub struct SendArgs {
    #[command(flatten)]
    post: PostArgs,
    /// Sends an issue that was sent before once more to those whose mail the mail server refused, and to nobody else
    #[arg(long)]
    pub refused: bool,
    #[command(flatten)]
    mode: ModeArgs,
    #[command(flatten)]
    common: CommonArgs,
}

/// An issue for addresses of our own.
#[derive(Args, Debug)]
pub struct TestArgs {
    #[command(flatten)]
    post: PostArgs,
    /// Where it goes; may be given more than once
    #[arg(long, value_name = "E-MAIL", required = true, value_parser = EmailAddress::parse)]
    to: Vec<EmailAddress>,
    #[command(flatten)]
    key: PersonKeySettings,
    #[command(flatten)]
    common: CommonArgs,
}

/// Has an issue go out, or says to whom it would go.
///
/// # Errors
///
/// If one of this name was sent before, nobody is to get it, or the broker does not store it.
pub async fn send(args: &SendArgs) -> anyhow::Result<()> {
    let common = &args.common;
    let Post { issue, remarks, .. } = Post::read(&args.post, Audience::Subscribers).await?;
    let (name, now) = (issue.name.clone(), OffsetDateTime::now_utc());
    let context = broker::connect(&common.nats).await?;
    ensure!(
        !is_kept(&context, &name).await?,
        "An issue named {name} was sent before; nobody gets the same twice. See `sitectl newsletter status {name}`, or give \
         another one another name with --name."
    );
    let reach = Reach::of_now(&context, now).await?;
    ensure!(
        reach.reached > 0,
        "Nobody confirmed a subscription, so that it would go to nobody."
    );
    let mut lines = vec![format!("Subject: {}", issue.subject)];
    lines.extend(reach.lines());
    lines.extend(remarks.iter().cloned());
    if args.mode.mode() == Mode::DryRun {
        lines.push("Nothing was sent; repeat it with --yes.".to_owned());
        let document = json!({ "name": name, "wouldReach": reach, "remarks": remarks });
        return print_output(common.json, &document, lines);
    }
    begin(&context, &issue, now).await?;
    let id = IssueId::named(&name);
    publish(&context, id, issue).await?;
    let see = format!("It is on its way; see `sitectl newsletter status {name}`.");
    lines.push(see);
    let document = json!({ "name": name, "issue": id, "reach": reach, "remarks": remarks });
    print_output(common.json, &document, lines)
}

/// Sends an issue to these addresses alone. Its link to unsubscribe is theirs, and works.
///
/// # Errors
///
/// If the broker does not store it.
pub async fn test(args: &TestArgs) -> anyhow::Result<()> {
    let TestArgs { to, common, .. } = args;
    let key = &args.key.person_key;
    let post = Post::read(&args.post, Audience::Test).await?;
    let context = broker::connect(&common.nats).await?;
    ensure_person_key(&context, key).await?;
    let issue = IssueId::of_test();
    publish(&context, issue, post.issue).await?;
    for address in to {
        let sending = Sending {
            id: issue.sending_id(Uuid::new_v4()),
            subject: key.person(address),
            requestid: issue.to_string(),
            issue,
            test: Some(address.clone()),
            repeats_refused: false,
        };
        publish_sending(&context, &sending).await?;
    }
    let mut lines = vec![format!("On their way: {} test mail(s).", to.len())];
    lines.extend(post.remarks.iter().cloned());
    let document = json!({ "sent": to.len(), "remarks": post.remarks });
    print_output(common.json, &document, lines)
}

/// Sends an issue once more to those whose mail was refused, or says how many those are. Whoever left meanwhile gets none. What it says
/// is what was sent, whatever the file says by now.
///
/// # Errors
///
/// If the issue is not known, canceled or too old, or the broker does not store a mail; then it can be repeated.
pub async fn repeat_refused(args: &SendArgs) -> anyhow::Result<()> {
    let (name, common) = (args.post.name(), &args.common);
    let context = broker::connect(&common.nats).await?;
    let progress = known(&Issues::open(&context).await?, &name).await?.record;
    let is_canceled = progress.state == IssueState::Canceled;
    ensure!(!is_canceled, "The issue {name} is canceled.");
    ensure!(
        is_kept(&context, &name).await?,
        "The issue {name} is not kept any more; send it under another name with --name."
    );
    let refused = Outcomes::read(&context).await?.refused(&progress);
    let count = refused.len();
    if args.mode.mode() == Mode::DryRun {
        let lines = [
            format!("It goes once more to {count} whose mail was refused."),
            "Nothing was sent; repeat it with --yes.".to_owned(),
        ];
        return print_output(common.json, &json!({ "name": name, "wouldReach": count }), lines);
    }
    for sending in &refused {
        publish_sending(&context, sending).await?;
    }
    let lines = [
        format!("On their way once more: {count} mail(s)."),
        format!("See `sitectl newsletter status {name}`."),
    ];
    print_output(common.json, &json!({ "name": name, "sent": count }), lines)
}

/// Whether the event that asked for an issue is there. One that is noted and has no event was begun by a command that ended before.
async fn is_kept(context: &Context, name: &str) -> anyhow::Result<bool> {
    let site = broker::stream(context, SITE_STREAM).await?;
    let subject = EventType::NewsletterIssueRequested.subject(&IssueId::named(name).as_subject());
    Ok(broker::next(&site, &subject, 1).await?.is_some())
}

/// Notes the issue, so that it can be paused from the first mail on.
async fn begin(
    context: &Context,
    requested: &NewsletterIssueRequested,
    now: OffsetDateTime,
) -> anyhow::Result<()> {
    let (issues, issue) = (Issues::open(context).await?, IssueId::named(&requested.name));
    let known = issues.progress(issue).await?;
    let revision = known.map_or(0, |known| known.revision);
    let progress = IssueProgress::new(requested.name.clone(), requested.subject.clone(), now);
    match issues.write_progress(issue, &progress, revision).await {
        Ok(_) => Ok(()),
        Err(RecordError::Conflict) => bail!("Somebody else sends an issue of this name in this moment."),
        Err(error) => Err(error.into()),
    }
}

/// Publishes the event that asks for an issue.
async fn publish(
    context: &Context,
    issue: IssueId,
    requested: NewsletterIssueRequested,
) -> anyhow::Result<()> {
    let (publisher, request_id) = (Publisher::new(context.client()), RequestId::accept(None));
    let (event, subject) = (issue.event_id(), issue.as_subject());
    let published = publisher.publish(&request_id, event, &subject, requested).await;
    published.context("the issue is not known to be sent; repeat the command")?;
    Ok(())
}

/// Puts a mail into the stream of sendings. The message has an id of its own: a refused mail's own id is known from the first time.
async fn publish_sending(context: &Context, sending: &Sending) -> anyhow::Result<()> {
    let subject = subjects::sending(&sending.issue.to_string(), sending.subject.as_str());
    let message = PublishMessage::build()
        .payload(serde_json::to_vec(sending)?.into())
        .message_id(Uuid::new_v4().to_string())
        .expected_stream(SENDINGS_STREAM);
    let stored = context.send_publish(subject, message).await?.await;
    stored.context("not all mails are known to be on their way; repeat the command")?;
    Ok(())
}
