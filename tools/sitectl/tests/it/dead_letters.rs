//! `sitectl dead-letters`.

use serde_json::{Value, json};
use site_events::{Channel, subjects};
use testkit::{MailServer, ScriptedReply, eventually};
use uuid::Uuid;

use crate::{
    site::{SALES, SOON, Site, message, person},
    tool::{assert_says, refused, told, told_in_part, told_json},
};

const VISITOR: &str = "gone@example.org";
const CHANNEL: Channel = Channel::ContactAcknowledgement;

async fn until_listed(site: &Site, numbers: &[u64]) -> anyhow::Result<()> {
    eventually(&format!("dead letters {numbers:?}"), SOON, async || {
        let list = told_json(&["dead-letters", "list"], &site.broker).ok()?;
        let letters = list["deadLetters"].as_array().into_iter().flatten();
        let listed = letters.filter_map(|letter| letter["number"].as_u64());
        listed.eq(numbers.iter().copied()).then_some(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_reaches_only_the_failed_channel() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let server = MailServer::start(|to, attempt| match (to, attempt) {
        (VISITOR, 1..=3) => ScriptedReply::ToRecipient("550 5.1.1 <gone@example.org>: gone is no user here"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let _notifier = site.notifier(&server).await?;
    let id = site.publish(VISITOR, message("Zoë Müller", VISITOR)?).await?;
    until_listed(&site, &[1]).await?;
    server.mails_to(SALES, 1, SOON).await?;
    ensure_shown(&site, id).await?;
    for number in 1..=2_u64 {
        told(&["dead-letters", "replay", &number.to_string()], &site.broker)?;
        until_listed(&site, &[number + 1]).await?;
    }
    let done = told_json(&["dead-letters", "replay", "--all"], &site.broker)?;
    assert_eq!(done, json!({ "replayed": [3], "notReplayed": [] }));
    server.mails_to(VISITOR, 1, SOON).await?;
    site.until_acked().await?;
    let mails = [VISITOR, SALES].map(|to| server.accepted(to).len());
    assert_eq!(mails, [1, 1]);
    assert!(site.nats.dead_letters().await?.is_empty());
    let events = site.nats.events().await?;
    assert!(events.iter().all(|event| *event == events[0]), "{events:?}");
    Ok(())
}

/// Checks that the list has no personal data, and `show` has the event.
async fn ensure_shown(site: &Site, id: Uuid) -> anyhow::Result<()> {
    let list = told_json(&["dead-letters", "list"], &site.broker)?;
    let letter = &list["deadLetters"][0];
    for (name, value) in [
        ("channel", CHANNEL.name()),
        ("eventType", "site.contact.received.v1"),
        ("eventId", &id.to_string()),
        ("attempts", "1"),
    ] {
        assert_eq!(letter[name], value, "{name}");
    }
    assert_says(&letter["reason"].to_string(), &["550"]);

    let table = told(&["dead-letters", "list"], &site.broker)?;
    assert!(table.starts_with("NUMBER  GIVEN UP  "), "{table}");
    for told in [list.to_string(), table] {
        for secret in [VISITOR, "Zoë", "cameras", person(VISITOR)?.as_str()] {
            assert!(!told.contains(secret), "{told}");
        }
    }
    let shown = told_json(&["dead-letters", "show", "1"], &site.broker)?;
    assert_eq!(shown["event"], site.nats.events().await?[0]);
    assert_eq!(shown["eventId"], id.to_string());
    let shown = told(&["dead-letters", "show", "1"], &site.broker)?;
    assert_says(&shown, &["NUMBER", CHANNEL.name(), VISITOR]);
    Ok(())
}

async fn with_letters(channels: &[&str]) -> anyhow::Result<Site> {
    let site = Site::start().await?;
    let context = site.jetstream().await?;
    for channel in channels {
        let event = json!({ "id": Uuid::new_v4(), "type": "site.contact.received.v1" });
        let subject = subjects::dead_letter(channel, person(VISITOR)?.as_str());
        context.publish(subject, event.to_string().into()).await?.await?;
    }
    Ok(site)
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letters_are_dropped_only_with_yes() -> anyhow::Result<()> {
    let Site { nats, broker, .. } = &with_letters(&[CHANNEL.name(); 3]).await?;
    let would = told_json(&["dead-letters", "drop", "--all"], broker)?;
    assert_eq!(would, json!({ "wouldDrop": [1, 2, 3] }));
    assert_eq!(nats.dead_letters().await?.len(), 3);

    for (words, number) in [
        (&["dead-letters", "show", "7"][..], 7),
        (&["dead-letters", "show", "0"], 0),
        (&["dead-letters", "replay", "1", "7"], 7),
        (&["dead-letters", "drop", "1", "7", "--yes"], 7),
    ] {
        let said = refused(words, broker)?;
        assert_says(&said, &[&format!("There is no dead letter {number}")]);
    }
    assert_eq!(nats.dead_letters().await?.len(), 3);

    let done = told_json(&["dead-letters", "drop", "1", "3", "1", "--yes"], broker)?;
    assert_eq!(done, json!({ "dropped": [1, 3] }));
    assert_eq!(nats.dead_letters().await?.len(), 1);
    told(&["dead-letters", "drop", "--all", "--yes"], broker)?;
    let nothing = told(&["dead-letters", "list"], broker)?;
    assert_eq!(nothing.trim(), "There are no dead letters.");
    assert!(nats.events().await?.is_empty(), "nothing was replayed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letters_of_a_removed_channel_block_no_others() -> anyhow::Result<()> {
    let channels = ["webhook-crm", CHANNEL.name(), "webhook-crm", CHANNEL.name()];
    let site = with_letters(&channels).await?;
    let (told, _) = told_in_part(&["dead-letters", "replay", "1", "2"], &site.broker)?;
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "replayed: [2]"), "{told}");
    let parts = [
        "not replayed: [1], of webhook-crm: ",
        "drop them if the endpoint was removed",
    ];
    assert_says(lines[1], &parts);

    let all = ["dead-letters", "replay", "--all", "--json"];
    let (told, said) = told_in_part(&all, &site.broker)?;
    assert_says(&said, &["Not replayed: 2 of 3"]);
    let told: Value = serde_json::from_str(&told)?;
    assert_eq!(told["replayed"], json!([4]));
    let left = &told["notReplayed"];
    assert_eq!(left.as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!(
        (&left[0]["channel"], &left[0]["numbers"]),
        (&json!("webhook-crm"), &json!([1, 3]))
    );
    assert_says(&left[0]["why"].to_string(), &["drop them"]);
    assert_eq!(site.nats.dead_letters().await?.len(), 2);
    assert_eq!(site.nats.events().await?.len(), 2);
    Ok(())
}
