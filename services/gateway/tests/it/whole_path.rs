//! Whole path from a visitor's form to the mails in the inbox, with real services.

use std::time::Duration;

use anyhow::Context;
use nix::sys::signal::Signal;
use reqwest::{Client, Response, StatusCode, header, multipart};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use site_events::EventType;
use testkit::{
    Broker, Ports, RECRUITERS_TO, SALES_TO, Shape, Stack, TcpProxy, eventually, external_program, free_ports,
    measure::pdf,
};

use crate::stopping::gateway;

const MAIL: Duration = Duration::from_secs(45);

struct Site {
    stack: Stack,
    http: Client,
}

async fn site() -> anyhow::Result<Site> {
    site_on(Broker::One).await
}

async fn site_on(broker: Broker) -> anyhow::Result<Site> {
    let shape = Shape {
        broker,
        ..Shape::default()
    };
    Ok(Site {
        stack: Stack::start_as(shape, Ports::free()?, &[("RATE_BURST", "100")]).await?,
        http: Client::new(),
    })
}

impl Site {
    async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Response> {
        let url = format!("{}{path}", self.stack.site());
        Ok(self.http.post(url).json(body).send().await?)
    }

    async fn apply(&self, file: Vec<u8>) -> anyhow::Result<Response> {
        let url = format!("{}/api/career-application", self.stack.site());
        // The file precedes the fields, because parts may come in any order.
        let resume = multipart::Part::bytes(file).file_name("Résumé Zoë.pdf");
        let mut form = multipart::Form::new().part("resume", resume);
        for (field, value) in filled_fields(EventType::CareersApplied) {
            form = form.text(field, value);
        }
        Ok(self.http.post(url).multipart(form).send().await?)
    }
}

/// Every field of the form with a value.
fn filled_fields(form: EventType) -> impl Iterator<Item = (&'static str, String)> {
    form.form_fields().iter().map(|&(field, label)| {
        let value = match field {
            "name" => "Zoë Müller",
            "email" => "zoe@example.org",
            "message" => "Two cameras,\none question.",
            "position" => "Backend Intern",
            "coverLetter" => "First line.\nSecond <b>line</b>.",
            _ => return (field, format!("Zoë's {label}")),
        };
        (field, value.to_owned())
    })
}

fn message() -> Value {
    filled_fields(EventType::ContactReceived).collect()
}

/// Checks that the mail has every field of the form.
fn assert_fields(mail: &Value, form: EventType) {
    for (field, value) in filled_fields(form) {
        for line in value.lines() {
            assert!(text(mail).contains(line), "no {field} in {mail}");
        }
    }
}

fn has(text: &Value, words: &str) -> bool {
    text.as_str().is_some_and(|text| text.contains(words))
}

fn text(mail: &Value) -> &str {
    mail["text"].as_str().unwrap_or_default()
}

fn link(mail: &Value, with: &str) -> anyhow::Result<String> {
    let mut words = text(mail).split_whitespace();
    let found = words.find(|word| word.starts_with("http") && word.contains(with));
    found
        .map(str::to_owned)
        .with_context(|| format!("no link with {with} in:\n{}", text(mail)))
}

fn token(link: &str) -> anyhow::Result<String> {
    let url = reqwest::Url::parse(link)?;
    let token = url.query_pairs().find(|(name, _)| name == "token");
    token.map(|(_, value)| value.into_owned()).context("no token")
}

#[tokio::test]
async fn a_message_reaches_sales_and_is_acknowledged() -> anyhow::Result<()> {
    let site = site().await?;
    let answer = site.post("/api/contact", &message()).await?;
    assert_eq!(answer.status(), StatusCode::OK);
    let request_id = answer.headers()["x-request-id"].to_str()?.to_owned();
    assert_eq!(answer.json::<Value>().await?["success"], json!(true));

    let lead = first_mail_to(&site, SALES_TO).await?;
    assert!(text(&lead).contains("> Two cameras,\n> one question."), "{lead}");
    assert_fields(&lead, EventType::ContactReceived);
    assert!(has(&lead["headers"]["reply-to"], "zoe@example.org"), "{lead}");
    assert_eq!(lead["headers"]["x-request-id"], request_id);
    let acknowledged = first_mail_to(&site, "zoe@example.org").await?;
    assert_eq!(acknowledged["headers"]["auto-submitted"], "auto-generated");
    assert_eq!(acknowledged["headers"]["x-request-id"], request_id);
    assert!(text(&acknowledged).contains("Zoë"));
    Ok(())
}

#[tokio::test]
async fn mailed_links_confirm_and_end_a_subscription() -> anyhow::Result<()> {
    let site = site().await?;
    let inbox = site.stack.mail_server()?;
    let signed_up = site
        .post("/api/newsletter", &json!({ "email": "zoe@example.org" }))
        .await?;
    assert_eq!(signed_up.status(), StatusCode::OK);

    let confirmation = inbox.mails_to("zoe@example.org", 1, MAIL).await?.remove(0);
    let token_of_mail = token(&link(&confirmation, "newsletter=confirm")?)?;
    let confirmed = site
        .post("/api/newsletter/confirm", &json!({ "token": token_of_mail }))
        .await?;
    assert_eq!(confirmed.status(), StatusCode::OK);

    let mails = inbox.mails_to("zoe@example.org", 2, MAIL).await?;
    let welcome = mails
        .iter()
        .find(|mail| mail["id"] != confirmation["id"])
        .context("no welcome")?;
    let token = token(&link(welcome, "newsletter=unsubscribe")?)?;
    let one_click = format!("{}/api/newsletter/unsubscribe?token={token}", site.stack.site());
    // Opening the link unsubscribes nobody, because link scanners open links. It redirects to a page that asks.
    let opened = site.http.get(&one_click).send().await?;
    assert_eq!(
        opened.url().as_str(),
        format!("{}/?newsletter=unsubscribe&token={token}", site.stack.site())
    );
    // An independent mail client unsubscribes, twice, because providers may repeat the request.
    let source = inbox.source(welcome)?;
    for _ in 0..2 {
        let client = external_program::python("services/gateway/tests/foreign/one_click.py");
        let answered = external_program::run(client, source.as_bytes()).await?;
        assert_eq!(answered.trim(), "200");
    }
    let in_a_browser = site.http.post(&one_click).header("accept", "text/html,*/*;q=0.8");
    let in_a_browser = in_a_browser.form(&[("List-Unsubscribe", "One-Click")]);
    let ended = in_a_browser.send().await?;
    assert_eq!(ended.status(), StatusCode::OK);
    // RFC 8058, 3.1 forbids a redirect, even if the mail client sends a browser's `Accept` header.
    assert_eq!(ended.url().as_str(), one_click);
    inbox.mails_to("zoe@example.org", 3, MAIL).await?;
    let events = site.stack.nats.events().await?;
    let left = events
        .iter()
        .filter(|event| event["type"] == "site.newsletter.unsubscribed.v1");
    assert_eq!(left.count(), 1);
    Ok(())
}

async fn first_mail_to(site: &Site, address: &str) -> anyhow::Result<Value> {
    let mails = site.stack.mail_server()?.mails_to(address, 1, MAIL).await?;
    mails.into_iter().next().context("no mail")
}

#[tokio::test]
async fn a_resume_reaches_the_recruiters_byte_for_byte() -> anyhow::Result<()> {
    let site = site().await?;
    let file = pdf(5_000_000);
    let digest = base16ct::lower::encode_string(&Sha256::digest(&file));
    let answer = site.apply(file.clone()).await?;
    assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await?);

    let application = first_mail_to(&site, RECRUITERS_TO).await?;
    assert!(has(&application["subject"], "Backend Intern"));
    assert_fields(&application, EventType::CareersApplied);
    for detail in ["Résumé Zoë.pdf", &digest] {
        assert!(has(&application["text"], detail), "no {detail} in {application}");
    }
    assert!(has(&application["html"], "&lt;b&gt;line"), "not escaped");
    let download = site.http.get(link(&application, "resumes/")?).send().await?;
    let disposition = download.headers()[header::CONTENT_DISPOSITION].to_str()?;
    assert!(disposition.starts_with("attachment"), "{disposition}");
    assert!(download.bytes().await? == file, "other bytes came back");

    let acknowledged = first_mail_to(&site, "zoe@example.org").await?;
    assert!(has(&acknowledged["text"], &digest), "{acknowledged}");
    Ok(())
}

#[tokio::test]
async fn one_account_of_a_managed_broker_serves_every_form() -> anyhow::Result<()> {
    let site = site_on(Broker::Managed).await?;
    let sign_up = json!({ "email": "zoe@example.org" });
    for (path, form) in [("/api/contact", message()), ("/api/newsletter", sign_up)] {
        assert_eq!(site.post(path, &form).await?.status(), StatusCode::OK, "{path}");
    }
    assert_eq!(site.apply(pdf(5_000)).await?.status(), StatusCode::OK);
    first_mail_to(&site, SALES_TO).await?;
    first_mail_to(&site, RECRUITERS_TO).await?;
    // One mail for each form.
    let inbox = site.stack.mail_server()?;
    inbox.mails_to("zoe@example.org", 3, MAIL).await?;
    Ok(())
}

#[tokio::test]
async fn one_key_stores_one_message() -> anyhow::Result<()> {
    let site = site().await?;
    let send = |message: Value| {
        let request = site.http.post(format!("{}/api/contact", site.stack.site()));
        let key = "68cbf9c7-f08b-504e-92aa-bdbbd9999451";
        request.header("idempotency-key", key).json(&message).send()
    };
    let first = send(message()).await?.text().await?;
    assert_eq!(send(message()).await?.text().await?, first);
    let mut other = message();
    other["message"] = "One camera.".into();
    let refused = send(other).await?;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let said: Value = refused.json().await?;
    let sentence = said["message"].as_str().unwrap_or_default();
    assert!(sentence.contains("send it again"), "{said}");
    assert_eq!(site.stack.nats.events().await?.len(), 1);
    Ok(())
}

/// A closed port stands for the restarting service, because a real restart takes a varying time.
#[tokio::test]
async fn a_form_waits_for_a_restarting_service() -> anyhow::Result<()> {
    let site = site().await?;
    let contact = site.stack.port_of("contact");
    // Reserves the port of the absent service, so that no other test takes it.
    let [port] = free_ports()?;
    let (_gateway, gateway_port) = gateway(&[("CONTACT_URL", port)], &site.stack.logs).await?;
    let url = format!("http://127.0.0.1:{gateway_port}/api/contact");
    let sending = tokio::spawn(site.http.post(url).json(&message()).send());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!sending.is_finished(), "answered without its service");
    let _proxy = TcpProxy::start_at(([127, 0, 0, 1], port).into(), None, contact).await?;
    assert_eq!(sending.await??.status(), StatusCode::OK);
    Ok(())
}

#[tokio::test]
async fn requests_in_flight_at_a_stop_are_answered() -> anyhow::Result<()> {
    let mut site = site().await?;
    let url = format!("{}/api/contact", site.stack.site());
    let sending: Vec<_> = (0..50)
        .map(|number| {
            let mut message = message();
            message["message"] = json!(format!("Message {number}"));
            tokio::spawn(site.http.post(&url).json(&message).send())
        })
        .collect();
    eventually("the first is answered", MAIL, async || {
        sending
            .iter()
            .any(tokio::task::JoinHandle::is_finished)
            .then_some(())
    })
    .await?;
    let gateway = site.stack.take_service("gateway")?;
    gateway.signal(Signal::SIGTERM)?;
    assert!(gateway.stop().await?.success());
    let mut accepted = 0;
    for answer in sending {
        // A stopping gateway may refuse connections, but must answer requests on accepted ones.
        if let Ok(answer) = answer.await? {
            assert_eq!(answer.status(), StatusCode::OK);
            accepted += 1;
        }
    }
    assert!(accepted > 0);
    assert_eq!(site.stack.nats.events().await?.len(), accepted);
    Ok(())
}
