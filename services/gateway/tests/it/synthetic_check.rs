//! `sitectl synthetic-check` with real services: its form reaches the check's inbox and nothing else.

use std::{
    process::{Command, Output},
    time::Duration,
};

use axum::{Router, body::Body, routing::post};
use http::{HeaderMap, StatusCode};
use reqwest::Client;
use serde_json::{Value, json};
use testkit::{Ports, SALES_TO, Stack, eventually, pass_flags};
use tokio::{net::TcpListener, task::spawn_blocking, time::sleep};
use visitor::PersonId;

use crate::{collector::Collector, imap_server::ImapServer};

const KEY: &str = "a synthetic key of thirty-two bytes or more";
const CHECK: &str = "check@oculant.example";
const VISITOR: &str = "zoe@example.org";
const SOON: Duration = Duration::from_secs(60);

struct Site {
    stack: Stack,
    imap: ImapServer,
    collector: Collector,
}

impl Site {
    async fn start(more: &[(&str, &str)]) -> anyhow::Result<Self> {
        let (collector, address) = Collector::start().await?;
        let usual = [
            ("SYNTHETIC_KEY", KEY),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
            ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
        ];
        Ok(Self {
            stack: Stack::start(Ports::free()?, &[&usual[..], more].concat()).await?,
            imap: ImapServer::start().await?,
            collector,
        })
    }

    fn flags(&self, key: &str) -> Vec<String> {
        self.flags_at(&self.stack.site(), key)
    }

    fn flags_at(&self, address: &str, key: &str) -> Vec<String> {
        let own = [
            format!("--site-url={address}"),
            format!("--synthetic-key={key}"),
            format!("--synthetic-email={CHECK}"),
        ];
        own.into_iter().chain(self.imap.flags()).collect()
    }

    async fn check(&self, flags: &[String]) -> anyhow::Result<Output> {
        let mut tool = Command::new(self.stack.programs.join("sitectl"));
        pass_flags(tool.arg("synthetic-check"), flags);
        tool.env("SSL_CERT_FILE", self.imap.authority().file());
        let checked = spawn_blocking(move || tool.output());
        tokio::select! {
            checked = checked => Ok(checked??),
            failed = self.deliver() => Err(failed),
        }
    }

    async fn deliver(&self) -> anyhow::Error {
        let mut delivered = 0;
        loop {
            let delivering = async {
                for mail in self.mails_to(CHECK).await?.iter().skip(delivered) {
                    self.imap.deliver(&self.stack.mail_server()?.source(mail)?)?;
                    delivered += 1;
                }
                anyhow::Ok(())
            };
            if let Err(error) = delivering.await {
                return error;
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    async fn mails_to(&self, address: &str) -> anyhow::Result<Vec<Value>> {
        self.stack.mail_server()?.mails_to(address, 0, SOON).await
    }
}

/// Starts a proxy that forwards contact forms and refuses uploads, and returns its address.
async fn proxy_of_small_bodies(site: String) -> anyhow::Result<String> {
    let contact = move |headers: HeaderMap, body: String| async move {
        let form = Client::new().post(format!("{site}/api/contact"));
        let answer = form.headers(headers).body(body).send().await;
        let answer = answer.map_err(|_| StatusCode::BAD_GATEWAY)?;
        Ok::<_, StatusCode>(http::Response::from(answer).map(Body::new))
    };
    let router = Router::new()
        .route("/api/contact", post(contact))
        .fallback(StatusCode::PAYLOAD_TOO_LARGE);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

fn said(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_synthetic_form_reaches_only_its_inbox() -> anyhow::Result<()> {
    let site = Site::start(&[]).await?;
    let checked = site.check(&site.flags(KEY)).await?;
    let told = said(&checked);
    assert!(checked.status.success(), "{told}");
    assert!(told.contains("in the inbox after"), "{told}");
    assert_eq!(site.imap.mails()?, 0, "it is removed");
    // Webhooks of the check's form, or its mails to sales, would arrive before those of this later form.
    let form = json!({ "name": "Zoë", "email": VISITOR, "message": "Two cameras." });
    let request = Client::new().post(format!("{}/api/contact", site.stack.site()));
    request.json(&form).send().await?.error_for_status()?;
    site.stack.mail_server()?.mails_to(SALES_TO, 1, SOON).await?;
    site.stack.mail_server()?.mails_to(VISITOR, 1, SOON).await?;
    let received = eventually("the visitor's webhook", SOON, async || {
        let received = site.stack.receiver.received();
        (!received.is_empty()).then_some(received)
    })
    .await?;
    let leads: Vec<&Value> = received
        .iter()
        .map(|webhook| &webhook.body["data"]["email"])
        .collect();
    assert_eq!(leads, [VISITOR]);
    assert_eq!(site.mails_to(SALES_TO).await?.len(), 1);
    assert_eq!(site.mails_to(CHECK).await?.len(), 1, "no acknowledgement");
    let events = site.stack.nats.events().await?;
    assert_eq!(events.len(), 2);
    assert_eq!(events[0]["subject"], PersonId::synthetic().as_str());

    for (metric, labels) in [
        ("site.submissions", [("form", "contact"), ("outcome", "accepted")]),
        (
            "site.deliveries",
            [("channel", "contact-received-sales"), ("outcome", "delivered")],
        ),
    ] {
        let counted = eventually("the visitor's figures", SOON, async || {
            let counted = site.collector.count_of(metric, &labels)?;
            (counted > 0).then_some(counted)
        })
        .await?;
        assert_eq!(counted, 1, "{metric}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_check_reports_its_last_step() -> anyhow::Result<()> {
    let settings = [
        ("CHALLENGE", "always"),
        ("CHALLENGE_TRIES", "10"),
        ("RATE_BURST", "100"),
    ];
    let mut site = Site::start(&settings).await?;
    let checked = site.check(&site.flags(KEY)).await?;
    assert!(checked.status.success(), "the challenge: {}", said(&checked));

    let proxy = proxy_of_small_bodies(site.stack.site()).await?;
    let without_uploads = site.check(&site.flags_at(&proxy, KEY)).await?;

    let other = site.flags("another key of thirty-two bytes or more");
    let with_another_key = site.check(&other).await?;
    site.stack.stop_service("notifier").await?;
    let late = [site.flags(KEY), vec!["--synthetic-seconds=3".to_owned()]].concat();
    site.stack.stop_service("contact").await?;
    let refused = site.check(&late).await?;
    site.stack.start_service("contact")?;
    let readyz = format!("{}/readyz", site.stack.health());
    eventually("the gateway reaches its services", SOON, async || {
        let answer = Client::new().get(&readyz).send().await.ok()?;
        answer.error_for_status().ok()
    })
    .await?;
    let waited = site.check(&late).await?;
    let mut locked = site.flags(KEY);
    locked.retain(|flag| !flag.starts_with("--imap-password"));
    locked.push("--imap-password=wrong".to_owned());
    let locked = site.check(&locked).await?;
    for (output, sentence) in [
        (without_uploads, "the proxy refuses an upload of 11 MB"),
        (refused, "The site did not accept the form: it answers 503"),
        (
            waited,
            "The form was accepted, but its mail did not arrive within 3 s",
        ),
        (locked, "cannot be read: it rejects the login"),
        (
            with_another_key,
            "SYNTHETIC_KEY differs from the contact service's",
        ),
    ] {
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains(sentence) && said.trim().lines().count() == 1,
            "{sentence}: {said}"
        );
    }
    Ok(())
}
