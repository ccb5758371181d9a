//! What the services really publish is what `docs/events` says of it.

use std::{collections::BTreeMap, fs, time::Duration};

use anyhow::Context;
use jsonschema::Validator;
use reqwest::{StatusCode, multipart};
use serde_json::{Value, json};
use site_events::{DEAD_LETTERS_STREAM, EventType, SITE_STREAM};
use testkit::{MailServer, Ports, ScriptedReply, Stack, eventually, measure::pdf, root};

const SOON: Duration = Duration::from_secs(45);
const ATTRIBUTION: &str = r#"{ "page": "/careers", "referrer": "https://www.example.edu/", "utmSource": "a",
    "utmMedium": "b", "utmCampaign": "c", "utmTerm": "d", "utmContent": "e" }"#;
const VISITOR: &str = "zoe@example.org";

/// Has visitors cause every event but a bounce, one application with all fields and one with
/// the least, and one message that the webhook's receiver refuses.
async fn cause_every_event(stack: &Stack) -> anyhow::Result<()> {
    post(stack, "newsletter", json!({ "email": VISITOR })).await?;
    for step in ["confirm", "unsubscribe"] {
        let token = token(stack, &format!("newsletter={step}&token=")).await?;
        post(stack, &format!("newsletter/{step}"), json!({ "token": token })).await?;
    }
    let least = [
        ("name", "Zoë Müller"),
        ("email", VISITOR),
        ("position", "Backend Intern"),
        ("coverLetter", "I would like to."),
    ];
    let form = |fields: &[(&'static str, &'static str)]| {
        let fields = fields.iter().copied();
        fields.fold(multipart::Form::new(), |form, (name, value)| {
            form.text(name, value)
        })
    };
    apply(stack, form(&least)).await?;
    let resume = multipart::Part::bytes(pdf(10_000)).file_name("Résumé Zoë.pdf");
    let all = form(&least)
        .text("attribution", ATTRIBUTION)
        .text("phone", "+91 44 0000 0000")
        .text("experience", "2 years");
    apply(stack, all.part("resume", resume)).await?;
    stack.receiver.answer(StatusCode::UNPROCESSABLE_ENTITY);
    let message = json!({ "name": "Zoë Müller", "email": VISITOR, "message": "Two cameras,\none question." });
    post(stack, "contact", message).await
}

async fn post(stack: &Stack, form: &str, body: Value) -> anyhow::Result<()> {
    let request = reqwest::Client::new().post(format!("{}/api/{form}", stack.site()));
    request.json(&body).send().await?.error_for_status()?;
    Ok(())
}

async fn apply(stack: &Stack, form: multipart::Form) -> anyhow::Result<()> {
    let request = reqwest::Client::new().post(format!("{}/api/career-application", stack.site()));
    request.multipart(form).send().await?.error_for_status()?;
    Ok(())
}

/// What stands behind these words in a mail to the visitor.
async fn token(stack: &Stack, behind: &str) -> anyhow::Result<String> {
    eventually(behind, SOON, async || {
        let mails = stack.inbox().ok()?.mails().await.ok()?;
        let mut texts = mails.iter().filter_map(|mail| mail["text"].as_str());
        let found = texts.find_map(|text| text.split_once(behind))?;
        Some(found.1.split_whitespace().next()?.to_owned())
    })
    .await
}

fn committed(file: &str) -> anyhow::Result<Value> {
    let path = root().join("docs/events").join(file);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(serde_json::from_str(&text)?)
}

fn validator(schema: &Value) -> anyhow::Result<Validator> {
    Ok(jsonschema::options()
        .should_validate_formats(true)
        .build(schema)?)
}

/// The same schema where nothing else is allowed than what it describes.
fn strict(mut schema: Value) -> Value {
    forbid_the_rest(&mut schema);
    schema
}

fn forbid_the_rest(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(forbid_the_rest);
            if fields.get("properties").is_some_and(Value::is_object) {
                fields.insert("additionalProperties".into(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forbid_the_rest),
        _ => {}
    }
}

fn mistakes(schema: &Value, value: &Value) -> anyhow::Result<Vec<String>> {
    let validator = validator(schema)?;
    let mistakes = validator.iter_errors(value);
    Ok(mistakes
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect())
}

/// A message's headers as an object.
fn headers(message: &async_nats::Message) -> Value {
    let headers = message.headers.iter().flat_map(|headers| headers.iter());
    let named = headers.map(|(name, values)| {
        let values: Vec<&str> = values.iter().map(|value| value.as_str()).collect();
        (name.to_string(), values.join(", "))
    });
    json!(named.collect::<BTreeMap<_, _>>())
}

/// The channel that has this subject, by the form of its address.
fn channel<'a>(asyncapi: &'a Value, stream: &str, subject: &str) -> anyhow::Result<&'a Value> {
    let fits = |address: &str| {
        let (address, subject) = (address.split('.'), subject.split('.'));
        address.clone().count() == subject.clone().count()
            && address
                .zip(subject)
                .all(|(word, token)| word.starts_with('{') || word == token)
    };
    let channels = asyncapi["channels"].as_object().context("no channels")?;
    let mut fitting = channels.values().filter(|channel| {
        channel["x-jetstream-stream"] == stream && channel["address"].as_str().is_some_and(fits)
    });
    let found = fitting
        .next()
        .with_context(|| format!("no channel of {stream} has {subject}"))?;
    anyhow::ensure!(fitting.next().is_none(), "two channels have {subject}");
    Ok(found)
}

/// Fails unless the documents describe all of this message: subject, headers and payload.
fn ensure_described(stream: &str, message: &async_nats::Message) -> anyhow::Result<String> {
    let asyncapi = committed("asyncapi.json")?;
    let event: Value = serde_json::from_slice(&message.payload)?;
    let name = event["type"].as_str().context("no type")?.to_owned();
    let channel = channel(&asyncapi, stream, &message.subject)?;
    let messages = channel["messages"].as_object().into_iter().flatten();
    let references = messages.filter_map(|(_, message)| message["$ref"].as_str());
    let described = references
        .filter_map(|reference| asyncapi.pointer(reference.trim_start_matches('#')))
        .find(|message| message["name"] == name)
        .with_context(|| format!("{} may not hold {name}", message.subject))?;
    let person = message.subject.rsplit('.').next();
    anyhow::ensure!(event["subject"].as_str() == person, "{}", message.subject);
    let headers = mistakes(&strict(described["headers"].clone()), &headers(message))?;
    anyhow::ensure!(headers.is_empty(), "headers of {name}: {headers:?}");
    let file = described["payload"]["$ref"].as_str().context("no payload")?;
    let payload = mistakes(&strict(committed(file)?), &event)?;
    anyhow::ensure!(payload.is_empty(), "{name}: {payload:?}");
    Ok(name)
}

#[tokio::test]
async fn every_event_that_services_publish_is_described_to_its_last_field() -> anyhow::Result<()> {
    let stack = Stack::start(Ports::free()?, &[("RATE_BURST", "100")]).await?;
    cause_every_event(&stack).await?;
    let mut seen = Vec::new();
    for message in stack.nats.messages(SITE_STREAM).await? {
        seen.push(ensure_described(SITE_STREAM, &message)?);
    }
    // Published by the notifier, where a mail comes back, and by the operator's tool.
    let of_others = [
        EventType::NewsletterBounced,
        EventType::NewsletterIssueRequested,
        EventType::PersonErased,
    ];
    for event_type in EventType::ALL.into_iter().filter(|of| !of_others.contains(of)) {
        let name = event_type.name();
        assert!(
            seen.iter().any(|seen| seen == name),
            "no service published {name}: {seen:?}"
        );
    }
    let dead = eventually("a dead letter", SOON, async || {
        stack.nats.dead_letters().await.ok()?.into_iter().next()
    })
    .await?;
    ensure_described(DEAD_LETTERS_STREAM, &dead).map(drop)
}

#[tokio::test]
async fn a_bounce_is_described_to_its_last_field() -> anyhow::Result<()> {
    let server = MailServer::start(|_, _| ScriptedReply::ToRecipient("550 5.1.1 No such user here")).await?;
    let settings = [("SMTP_PORT", &*server.port().to_string())];
    let stack = Stack::start(Ports::free()?, &settings).await?;
    post(&stack, "newsletter", json!({ "email": VISITOR })).await?;
    let bounced = eventually("a bounce", SOON, async || {
        let messages = stack.nats.messages(SITE_STREAM).await.ok()?;
        messages
            .into_iter()
            .find(|message| message.subject.starts_with("site.newsletter.bounced."))
    })
    .await?;
    assert_eq!(
        ensure_described(SITE_STREAM, &bounced)?,
        EventType::NewsletterBounced.name()
    );
    Ok(())
}

#[test]
fn a_field_that_nobody_described_is_found_and_yet_allowed_to_come_later() -> anyhow::Result<()> {
    let schema = committed("site.newsletter.confirmed.v1.schema.json")?;
    let event = |data: Value| {
        json!({
            "specversion": "1.0", "id": "68cbf9c7-f08b-404e-92aa-bdbbd9999451", "source": "/services/newsletter",
            "type": "site.newsletter.confirmed.v1", "subject": "0123456789abcdef0123456789abcdef",
            "time": "2026-11-20T12:00:00Z", "datacontenttype": "application/json", "requestid": "visit-0001",
            "data": data,
        })
    };
    let (plain, later) = (
        event(json!({ "email": VISITOR })),
        event(json!({ "email": VISITOR, "added": 1 })),
    );
    assert_eq!(mistakes(&strict(schema.clone()), &plain)?, [""; 0]);
    assert_eq!(mistakes(&schema, &later)?, [""; 0]);
    assert_eq!(mistakes(&strict(schema.clone()), &later)?.len(), 1);
    let wrong = event(json!({ "email": "zoe" }));
    assert_eq!(mistakes(&schema, &wrong)?.len(), 1, "formats are checked");
    Ok(())
}
