//! A stack whose mail server misbehaves, and which keeps only what the books need.

use std::{collections::HashSet, time::Duration};

use serde_json::json;
use testkit::{Keep, Mail, MailFault, Ports, Shape, Stack, eventually};

const SOON: Duration = Duration::from_secs(60);

#[tokio::test]
async fn mails_and_webhooks_of_a_stack_are_told_by_what_identifies_them() -> anyhow::Result<()> {
    let shape = Shape {
        mail: Mail::Scripted,
        keep: Keep::Identity,
        ..Shape::USUAL
    };
    let stack = Stack::start_as(shape, Ports::free()?, &[]).await?;
    assert!(stack.inbox().is_err());
    let server = stack.mail_server()?;
    server.fault(MailFault::Away);
    let url = format!("{}/api/contact", stack.site());
    let form = json!({ "name": "Zoë", "email": "zoe@example.org", "message": "Two cameras." });
    let answer = reqwest::Client::new().post(&url).json(&form).send().await?;
    assert!(answer.status().is_success(), "{}", answer.status());
    assert!(server.accepted_mails().is_empty());
    server.fault(MailFault::None);
    // To sales, and to the visitor.
    let mails = eventually("both mails", SOON, async || {
        let mails = server.accepted_mails();
        (mails.len() == 2).then_some(mails)
    })
    .await?;
    let ids: HashSet<_> = mails.iter().map(|mail| &mail.message_id).collect();
    assert!(ids.len() == 2 && !ids.contains(&String::new()), "{mails:?}");
    let hooks = eventually("the webhook", SOON, async || {
        let hooks = stack.receiver.taken_after(0);
        (!hooks.is_empty()).then_some(hooks)
    })
    .await?;
    assert!(hooks.iter().all(|hook| hook.signed && !hook.id.is_empty()));
    assert_eq!(hooks[0].event_type, "site.contact.received.v1");
    assert!(stack.receiver.received().is_empty(), "bodies are kept");
    stack.stop().await
}
