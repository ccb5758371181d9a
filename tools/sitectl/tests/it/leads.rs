//! `sitectl leads` and `sitectl applications`.

use anyhow::Context as _;
use async_nats::{
    HeaderMap,
    jetstream::{self, consumer::PullConsumer},
};
use futures_util::StreamExt as _;
use resumes::{ResumeKey, ResumeStore};
use serde_json::json;
use site_broker::DELIVERIES_BUCKET;
use site_events::{
    Attribution, Channel, SITE_STREAM,
    event::{CareersApplied, ContactReceived, Scan, StoredResume},
    headers::DEAD_LETTER_ERROR,
    subjects,
};
use testkit::{Nats, S3, User};
use uuid::Uuid;
use visitor::EmailAddress;

use crate::tool::{message, person, publish, publish_of, refused, told, told_json, told_rows};

const CRM: &str =
    r#"[{"name": "crm", "url": "https://crm.example", "events": ["contact.received"], "format": "slack"}]"#;
const ZOE: &str = "zoe@example.org";

fn lead(name: &str, text: &str, campaign: Option<&str>) -> anyhow::Result<ContactReceived> {
    Ok(ContactReceived {
        message: text.to_owned(),
        attribution: campaign.map(|campaign| Attribution {
            page: Some("/contact".to_owned()),
            utm_campaign: Some(campaign.to_owned()),
            ..Attribution::default()
        }),
        ..message(name, ZOE)?
    })
}

fn application(position: &str, resume: Option<StoredResume>) -> anyhow::Result<CareersApplied> {
    Ok(CareersApplied {
        name: "Zoë Müller".to_owned(),
        email: EmailAddress::parse(ZOE)?,
        phone: Some("+91 98400 00000".to_owned()),
        position: position.to_owned(),
        experience: None,
        cover_letter: "I would like to.".to_owned(),
        resume,
        attribution: None,
    })
}

fn rows(table: &str) -> anyhow::Result<Vec<std::collections::HashMap<String, String>>> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    Ok(reader.deserialize().collect::<Result<_, _>>()?)
}

async fn fare(nats: &Nats, lead: Uuid) -> anyhow::Result<()> {
    let context = jetstream::new(nats.client(User::Operator).await?);
    let deliveries = context.get_key_value(DELIVERIES_BUCKET).await?;
    for (channel, record) in [
        (Channel::SalesLead, "2026-11-20T12:00:00Z"),
        (Channel::ContactAcknowledgement, "withheld 2026-11-20T12:00:00Z"),
    ] {
        let key = format!("{lead}.{}", channel.name());
        deliveries.put(key, record.into()).await?;
    }
    let dead = subjects::dead_letter("webhook-crm", person(ZOE)?.as_str());
    let mut headers = HeaderMap::new();
    headers.insert(DEAD_LETTER_ERROR, "the receiver answered 400");
    let letter = json!({ "id": lead }).to_string();
    let sent = context.publish_with_headers(dead, headers, letter.into());
    sent.await?.await?;
    Ok(())
}

async fn stored_resume(s3: &S3) -> anyhow::Result<StoredResume> {
    let key = ResumeKey::new(&person(ZOE)?, Uuid::new_v4());
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("cv.pdf");
    std::fs::write(&file, "%PDF-1.7")?;
    let store = ResumeStore::new(&s3.settings()?);
    store.put(&key, &file, "application/pdf").await?;
    Ok(StoredResume {
        key: key.to_string(),
        file_name: "cv.pdf".to_owned(),
        content_type: "application/pdf".to_owned(),
        size_bytes: 8,
        sha256: String::new(),
        scan: Scan::Clean,
        active_content: Vec::new(),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn leads_are_exported_with_how_each_channel_fared_and_no_cell_is_a_formula() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    nats.provision(&["--webhooks", CRM]).await?;
    let flags = nats.flags(User::Operator);
    assert_eq!(told(&["leads", "list"], &flags)?, "There are none.\n");
    let first = publish(
        &nats,
        ZOE,
        lead("=HYPERLINK(1)", "one\n\"two\", three", Some("spring"))?,
    )
    .await?;
    let second = publish(&nats, ZOE, lead("Asha", "four", None)?).await?;
    // A synthetic form is no lead.
    let nobody = visitor::PersonId::try_from("0".repeat(32)).map_err(|_| anyhow::anyhow!("an id"))?;
    publish_of(&nats, &nobody, lead("Check", "five", None)?).await?;
    publish(&nats, ZOE, application("AI Intern", None)?).await?;

    fare(&nats, first).await?;
    let sales = Channel::SalesLead.name();
    let acknowledgement = Channel::ContactAcknowledgement.name();
    let table = told(&["leads", "export"], &flags)?;
    let rows = rows(&table)?;
    assert_eq!(rows.len(), 2, "{table}");
    assert_eq!(rows[0]["id"], first.to_string());
    assert_eq!(rows[0]["name"], "'=HYPERLINK(1)");
    assert_eq!(rows[0]["message"], "one\n\"two\", three");
    assert_eq!((&*rows[0]["page"], &*rows[0]["campaign"]), ("/contact", "spring"));
    assert_eq!(rows[0][sales], "delivered 2026-11-20T12:00:00Z");
    assert_eq!(rows[0][acknowledgement], "withheld 2026-11-20T12:00:00Z");
    assert_eq!(rows[0]["webhook-crm"], "dead letter");
    assert_eq!(
        (&*rows[1]["webhook-crm"], &*rows[1][sales]),
        ("waiting", "waiting")
    );

    let document = told_json(&["leads", "export"], &flags)?;
    assert_eq!(document, told_json(&["leads", "list"], &flags)?);
    let documents = &document["leads"];
    assert_eq!(documents[1]["id"], second.to_string());
    assert_eq!(
        documents[0]["data"]["name"], "=HYPERLINK(1)",
        "machines are told as it is"
    );
    assert_eq!(documents[0]["channels"]["webhook-crm"], "dead letter");
    Ok(())
}

/// A lead can be older than its endpoint, or than its delivery records.
#[tokio::test(flavor = "multi_thread")]
async fn what_no_channel_is_left_to_do_is_not_said_to_wait() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let flags = nats.flags(User::Operator);
    publish(&nats, ZOE, lead("Asha", "before the endpoint", None)?).await?;
    nats.provision(&["--webhooks", CRM]).await?;
    publish(&nats, ZOE, lead("Asha", "behind it", None)?).await?;
    let sales = Channel::SalesLead.name();
    let context = jetstream::new(nats.client(User::Notifier).await?);
    let consumer: PullConsumer = context.get_consumer_from_stream(sales, SITE_STREAM).await?;
    let mut handed_out = consumer.fetch().max_messages(1).messages().await?;
    let first = handed_out.next().await.context("the first lead")?;
    let acknowledged = first.map_err(anyhow::Error::from_boxed)?.double_ack().await;
    acknowledged.map_err(anyhow::Error::from_boxed)?;
    let rows = rows(&told(&["leads", "export"], &flags)?)?;
    let told = |row: usize| (&*rows[row][sales], &*rows[row]["webhook-crm"]);
    assert_eq!(told(0), ("no record", "no record"));
    assert_eq!(told(1), ("waiting", "waiting"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn leads_are_chosen_by_time_and_campaign() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let flags = nats.flags(User::Operator);
    publish(&nats, ZOE, lead("Asha", "one", Some("spring sale"))?).await?;
    publish(&nats, ZOE, lead("\u{202e}Ravi\u{1b}[31m\tone\n", "two", None)?).await?;
    let count = |words: &[&str]| -> anyhow::Result<Option<usize>> {
        let listed = told_json(&[&["leads", "list"], words].concat(), &flags)?;
        Ok(listed["leads"].as_array().map(Vec::len))
    };
    assert_eq!(count(&[])?, Some(2));
    assert_eq!(count(&["--campaign", "spring"])?, Some(1));
    assert_eq!(count(&["--campaign", "autumn"])?, Some(0));
    assert_eq!(count(&["--since", "2026-01-01"])?, Some(2));
    assert_eq!(count(&["--until", "2026-01-01"])?, Some(0));
    assert_eq!(count(&["--since", "2126-01-01T00:00:00Z"])?, Some(0));
    let rows = told_rows(&["leads", "list"], &flags)?;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0][2..], ["Asha", ZOE, "spring sale", "waiting", "waiting"]);
    assert_eq!(
        rows[1][2..],
        ["Ravi [31m one", ZOE, "-", "waiting", "waiting"],
        "whatever somebody is called"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn applications_are_chosen_by_position_and_a_new_link_leads_to_the_resume() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let flags = nats.flags(User::Operator);
    let resume = stored_resume(&s3).await?;
    let gone = StoredResume {
        key: ResumeKey::new(&person(ZOE)?, Uuid::new_v4()).to_string(),
        ..resume.clone()
    };
    let with = publish(&nats, ZOE, application("AI Intern", Some(resume))?).await?;
    let without = publish(&nats, ZOE, application("Backend Intern", None)?).await?;
    let lost = publish(&nats, ZOE, application("Backend Intern", Some(gone))?).await?;

    let table = told(&["applications", "export", "--position", "AI"], &flags)?;
    let rows = rows(&table)?;
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (&*rows[0]["position"], &*rows[0]["resume"]),
        ("AI Intern", "cv.pdf")
    );
    assert_eq!(rows[0]["phone"], "'+91 98400 00000");
    let listed = told_rows(&["applications", "list", "--position", "Intern"], &flags)?;
    assert_eq!(listed.len(), 3);
    assert_eq!(listed[0][2..5], ["Zoë Müller", ZOE, "AI Intern"]);

    let link_flags: Vec<String> = flags.iter().cloned().chain(s3.flags()).collect();
    let link = |id: Uuid, hours: &str| {
        told(
            &["applications", "link", &id.to_string(), "--hours", hours],
            &link_flags,
        )
    };
    let link = link(with, "2")?;
    assert!(link.contains("X-Amz-Expires=7200"), "{link}");
    let fetched = reqwest::get(link.trim()).await?;
    assert_eq!(fetched.text().await?, "%PDF-1.7");
    for (id, said) in [
        (without, "came without a résumé"),
        (lost, "is not there any more"),
        (Uuid::new_v4(), "There is no application"),
    ] {
        let refused = refused(&["applications", "link", &id.to_string()], &link_flags)?;
        assert!(refused.contains(said), "{refused}");
    }
    Ok(())
}
