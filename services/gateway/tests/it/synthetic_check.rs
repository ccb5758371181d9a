//! `sitectl synthetic-check` on real parts: its form reaches its inbox and nothing else.

use std::{
    process::{Command, Output},
    time::Duration,
};

use reqwest::Client;
use serde_json::{Value, json};
use testkit::{Ports, Stack, eventually, pass_flags};
use tokio::{task::spawn_blocking, time::sleep};
use visitor::{EmailAddress, PersonId, SyntheticKey};

use crate::{collector::Collector, imap_server::ImapServer};

const KEY: &str = "a synthetic key of thirty-two bytes or more";
const CHECK: &str = "check@oculant.example";
const SALES: &str = "sales@oculant.example";
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
        let own = [
            format!("--site-url={}", self.stack.site()),
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

    async fn post(&self, email: &str, mark: &str) -> anyhow::Result<(u16, Value)> {
        let form = json!({ "name": "Zoë", "email": email, "message": "Two cameras." });
        let request = Client::new()
            .post(format!("{}/api/contact", self.stack.site()))
            .json(&form);
        let answer = request.header("synthetic-mark", mark).send().await?;
        Ok((answer.status().as_u16(), answer.json().await?))
    }

    fn counted(&self, metric: &str, attributes: &[(&str, &str)]) -> i64 {
        self.collector.count_of(metric, attributes).unwrap_or_default()
    }
}

fn said(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checks_form_comes_to_its_inbox_and_to_no_lead_webhook_or_figure() -> anyhow::Result<()> {
    let site = Site::start(&[]).await?;
    let checked = site.check(&site.flags(KEY)).await?;
    assert!(checked.status.success(), "{}", said(&checked));
    assert!(
        said(&checked).contains("in the inbox after"),
        "{}",
        said(&checked)
    );
    assert_eq!(site.imap.mails()?, 0, "it is removed");
    // Once a later form has arrived everywhere, the check's would have arrived, too.
    site.post(VISITOR, "").await?;
    site.stack.mail_server()?.mails_to(SALES, 1, SOON).await?;
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
    assert_eq!(site.mails_to(SALES).await?.len(), 1);
    assert_eq!(site.mails_to(CHECK).await?.len(), 1, "no acknowledgement");
    let persons: Vec<Value> = site
        .stack
        .nats
        .events()
        .await?
        .iter()
        .map(|event| event["subject"].clone())
        .collect();
    assert_eq!(persons.len(), 2);
    assert_eq!(persons[0], PersonId::synthetic().as_str());

    let accepted = [("form", "contact"), ("outcome", "accepted")];
    let delivered = [("channel", "contact-received-sales"), ("outcome", "delivered")];
    eventually("the visitor's figures", SOON, async || {
        let both = (
            site.counted("site.submissions", &accepted),
            site.counted("site.deliveries", &delivered),
        );
        (both.0 > 0 && both.1 > 0).then_some(())
    })
    .await?;
    assert_eq!(site.counted("site.submissions", &accepted), 1);
    assert_eq!(site.counted("site.deliveries", &delivered), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_with_a_mark_that_is_forged_or_expired_is_a_visitors_and_is_answered_as_one()
-> anyhow::Result<()> {
    let site = Site::start(&[]).await?;
    let mark = |key: &str, minutes| -> anyhow::Result<String> {
        let expires = time::OffsetDateTime::now_utc() + time::Duration::minutes(minutes);
        Ok(SyntheticKey::new(key)?.mark(&EmailAddress::parse(VISITOR)?, expires))
    };
    let plain = site.post("plain@example.org", "").await?;
    let other = "another key of thirty-two bytes or more";
    for mark in [mark(other, 5)?, mark(KEY, -1)?, "x".to_owned()] {
        let answered = site.post(VISITOR, &mark).await?;
        assert_eq!(answered, plain, "{mark}");
    }
    let synthetic = PersonId::synthetic();
    for event in site.stack.nats.events().await? {
        assert_ne!(event["subject"], synthetic.as_str());
    }
    // The same form within an hour is a duplicate.
    site.stack.mail_server()?.mails_to(SALES, 2, SOON).await?;

    let checked = site.check(&site.flags(other)).await?;
    assert_eq!(checked.status.code(), Some(1), "{}", said(&checked));
    assert!(
        said(&checked).contains("SYNTHETIC_KEY is not that of the contact service"),
        "{}",
        said(&checked)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_says_in_one_sentence_how_far_it_came() -> anyhow::Result<()> {
    let mut site = Site::start(&[("CHALLENGE", "always"), ("CHALLENGE_TRIES", "10")]).await?;
    let checked = site.check(&site.flags(KEY)).await?;
    assert!(
        checked.status.success(),
        "work that is asked for is done: {}",
        said(&checked)
    );

    site.stack.stop_service("notifier").await?;
    let late = [site.flags(KEY), vec!["--synthetic-seconds=3".to_owned()]].concat();
    site.stack.stop_service("contact").await?;
    let refused = site.check(&late).await?;
    site.stack.start_service("contact")?;
    let readyz = format!("{}/readyz", site.stack.health());
    eventually("the gateway reaches its services", SOON, async || {
        Client::new()
            .get(&readyz)
            .send()
            .await
            .ok()?
            .error_for_status()
            .ok()
    })
    .await?;
    let waited = site.check(&late).await?;
    let mut locked = site.flags(KEY);
    locked.retain(|flag| !flag.starts_with("--imap-password"));
    locked.push("--imap-password=wrong".to_owned());
    let locked = site.check(&locked).await?;
    for (output, sentence) in [
        (refused, "The site did not take the form: it answers 503"),
        (waited, "The form was taken, and its mail did not come within 3 s"),
        (locked, "cannot be read: the login was refused"),
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
