//! `sitectl leads` and `sitectl applications`.

use std::collections::HashMap;

use async_nats::HeaderMap;
use serde_json::json;
use site_broker::DELIVERIES_BUCKET;
use site_events::{Attribution, Channel, event::ContactReceived, headers::DEAD_LETTER_ERROR, subjects};
use uuid::Uuid;
use visitor::PersonId;

use crate::{
    site::{CRM, Site, application, message, new_resume_key, person, stored_resume},
    tool::{assert_says, refused, told, told_json, told_rows},
};

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

fn rows(table: &str) -> anyhow::Result<Vec<HashMap<String, String>>> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    Ok(reader.deserialize().collect::<Result<_, _>>()?)
}

/// Records a lead as delivered to sales, withheld from its visitor, and dead-lettered at the endpoint.
async fn fare(site: &Site, lead: Uuid) -> anyhow::Result<()> {
    let context = site.jetstream().await?;
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

#[tokio::test(flavor = "multi_thread")]
async fn exported_leads_have_each_channels_outcome_and_no_formula() -> anyhow::Result<()> {
    let site = Site::start().await?;
    site.nats.provision(&["--webhooks", CRM]).await?;
    let flags = &site.broker;
    assert_eq!(told(&["leads", "list"], flags)?, "There are none.\n");
    let formula = lead("=HYPERLINK(1)", "one\n\"two\", three", Some("spring"))?;
    let first = site.publish(ZOE, formula).await?;
    let second = site.publish(ZOE, lead("Asha", "four", None)?).await?;
    // A synthetic form is no lead.
    site.publish_of(&PersonId::synthetic(), lead("Check", "five", None)?)
        .await?;
    site.publish(ZOE, application("Zoë Müller", ZOE, None)?).await?;

    fare(&site, first).await?;
    let sales = Channel::SalesLead.name();
    let table = told(&["leads", "export"], flags)?;
    let rows = rows(&table)?;
    assert_eq!(rows.len(), 2, "{table}");
    let id = first.to_string();
    for (column, cell) in [
        ("id", &*id),
        ("name", "'=HYPERLINK(1)"),
        ("message", "one\n\"two\", three"),
        ("page", "/contact"),
        ("campaign", "spring"),
        (sales, "delivered 2026-11-20T12:00:00Z"),
        (
            Channel::ContactAcknowledgement.name(),
            "withheld 2026-11-20T12:00:00Z",
        ),
        ("webhook-crm", "dead letter"),
    ] {
        assert_eq!(rows[0][column], cell, "{column}");
    }
    assert_eq!(
        (&*rows[1]["webhook-crm"], &*rows[1][sales]),
        ("waiting", "waiting")
    );

    let document = told_json(&["leads", "export"], flags)?;
    assert_eq!(document, told_json(&["leads", "list"], flags)?);
    let [one, two] = [&document["leads"][0], &document["leads"][1]];
    assert_eq!(two["id"], second.to_string());
    assert_eq!(one["data"]["name"], "=HYPERLINK(1)");
    assert_eq!(one["channels"]["webhook-crm"], "dead letter");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn leads_are_chosen_by_time_and_campaign() -> anyhow::Result<()> {
    let site = Site::start().await?;
    site.publish(ZOE, lead("Asha", "one", Some("spring sale"))?)
        .await?;
    site.publish(ZOE, lead("\u{202e}Ravi\u{1b}[31m\tone\n", "two", None)?)
        .await?;
    for (words, count) in [
        (&["--campaign", "spring"][..], 1),
        (&["--campaign", "autumn"], 0),
        (&[], 2),
        (&["--since", "2026-01-01"], 2),
        (&["--until", "2026-01-01"], 0),
        (&["--since", "2126-01-01T00:00:00Z"], 0),
    ] {
        let listed = told_json(&[&["leads", "list"], words].concat(), &site.broker)?;
        assert_eq!(listed["leads"].as_array().map(Vec::len), Some(count), "{words:?}");
    }
    let rows = told_rows(&["leads", "list"], &site.broker)?;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0][2..5], ["Asha", ZOE, "spring sale"]);
    assert_eq!(rows[1][2..5], ["Ravi [31m one", ZOE, "-"]);
    assert!(
        rows.iter()
            .all(|row| row[5..].iter().all(|cell| cell == "waiting"))
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn applications_are_filtered_by_position_and_link_their_resume() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let resume = site.store_resume(&new_resume_key(ZOE)?, "%PDF-1.7").await?;
    let mut intern = application("Zoë Müller", ZOE, Some(resume))?;
    intern.phone = Some("+91 98400 00000".to_owned());
    let with = site.publish(ZOE, intern).await?;
    let mut backend = application("Zoë Müller", ZOE, None)?;
    backend.position = "Backend Intern".to_owned();
    let without = site.publish(ZOE, backend.clone()).await?;
    backend.resume = Some(stored_resume(&new_resume_key(ZOE)?));
    let lost = site.publish(ZOE, backend).await?;

    let table = told(&["applications", "export", "--position", "AI"], &site.broker)?;
    let rows = rows(&table)?;
    assert_eq!(rows.len(), 1);
    let cells = ["position", "resume", "phone"].map(|column| &*rows[0][column]);
    assert_eq!(cells, ["AI Intern", "cv.pdf", "'+91 98400 00000"]);
    let listed = told_rows(&["applications", "list", "--position", "Intern"], &site.broker)?;
    assert_eq!(listed.len(), 3);
    assert_eq!(listed[0][2..5], ["Zoë Müller", ZOE, "AI Intern"]);

    let link = ["applications", "link", &with.to_string(), "--hours", "2"];
    let link = told(&link, &site.flags)?;
    assert_says(&link, &["X-Amz-Expires=7200"]);
    assert_eq!(reqwest::get(link.trim()).await?.text().await?, "%PDF-1.7");
    for (id, said) in [
        (without, "came without a résumé"),
        (lost, "no longer exists"),
        (Uuid::new_v4(), "There is no application"),
    ] {
        let refusal = refused(&["applications", "link", &id.to_string()], &site.flags)?;
        assert_says(&refusal, &[said]);
    }
    Ok(())
}
