//! What mail providers post of mails that came back, and what comes of it.

use std::time::Duration as Wait;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use mail_reports::{Mailgun, Postmark, SesTopic};
use serde_json::{Value, json};
use sha2::Sha256;
use site_broker::SUBSCRIBERS_BUCKET;
use site_proto::newsletter::v1::TakeMailReportRequest;
use testkit::{HttpStandIn, Nats, SnsSigner, eventually, http_stand_in::Reply, seed_subscribers};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};
use tonic::{Code, Status};
use uuid::Uuid;

use crate::{PERSON_KEY, Running, replica, running_on};

const SIGNING_KEY: &str = "a-signing-key-of-a-test-0123456789";
const PASSWORD: &str = "a password of a test, long enough";
const TOPIC: &str = "arn:aws:sns:eu-central-1:123456789012:mail-reports";
const SNS: &str = "https://sns.eu-central-1.amazonaws.com";
const CERTIFICATE: &str = "/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem";
const BOUNCED: &str = "site.newsletter.bounced.v1";
const SOON: Wait = Wait::from_secs(30);

fn reader(number: usize) -> String {
    format!("reader-{number}@example.org")
}

/// The service with five readers, to which both providers may report.
async fn reported_to() -> anyhow::Result<Running> {
    let nats = Nats::start().await?;
    seed_subscribers(&nats, PERSON_KEY, (0..5).map(reader)).await?;
    let (mailgun, postmark) = (Mailgun::new(SIGNING_KEY), Postmark::new(PASSWORD));
    let running = running_on(nats, |settings| {
        settings.mail_reports.mailgun_signing_key = mailgun.ok();
        settings.mail_reports.postmark_webhook_password = postmark.ok();
    });
    running.await
}

/// What Mailgun posts, signed at this time under this token.
fn by_mailgun(token: &str, at: OffsetDateTime, event_data: &Value) -> anyhow::Result<TakeMailReportRequest> {
    let timestamp = at.unix_timestamp().to_string();
    let tag = Hmac::<Sha256>::new_from_slice(SIGNING_KEY.as_bytes())?
        .chain_update(&timestamp)
        .chain_update(token)
        .finalize();
    let tag = base16ct::lower::encode_string(&tag.into_bytes());
    let body = json!({
        "signature": { "timestamp": timestamp, "token": token, "signature": tag },
        "event-data": event_data,
    });
    Ok(TakeMailReportRequest {
        provider: "mailgun".to_owned(),
        authorization: String::new(),
        body: body.to_string().into(),
    })
}

fn failed(recipient: &str) -> Value {
    json!({
        "id": "G9Bn5sl1TC6nu79C8C0bwg", "timestamp": 1_521_233_195.375_624_f64, "log-level": "error", "event": "failed",
        "severity": "permanent", "reason": "bounce", "recipient": recipient,
        "delivery-status": { "attempt-no": 1, "code": 550, "message": "5.1.1 The email account does not exist", "description": "" },
    })
}

fn by_postmark(id: i64, kind: &str, email: &str) -> TakeMailReportRequest {
    let body = json!({
        "RecordType": if kind == "SpamComplaint" { kind } else { "Bounce" }, "MessageStream": "broadcast", "ID": id, "Type": kind,
        "ServerID": 1234, "Email": email, "From": "hello@oculant.example", "BouncedAt": "2026-11-05T16:33:54.9070259Z",
        "DumpAvailable": true, "Inactive": true, "CanActivate": true, "Subject": "The smart home",
    });
    TakeMailReportRequest {
        provider: "postmark".to_owned(),
        authorization: format!("Basic {}", STANDARD.encode(format!("postmark:{PASSWORD}"))),
        body: body.to_string().into(),
    }
}

impl Running {
    async fn report(&mut self, request: TakeMailReportRequest) -> Result<(), Status> {
        self.newsletter.take_mail_report(request).await.map(drop)
    }

    async fn refused(&mut self, request: TakeMailReportRequest) -> Code {
        let reported = self.report(request).await;
        reported.map_or_else(|status| status.code(), |()| Code::Ok)
    }

    async fn until_suppressed(&self, email: &str) -> anyhow::Result<()> {
        eventually(&format!("{email} is suppressed"), SOON, async || {
            (self.state_of(email).await.ok()? == "suppressed").then_some(())
        })
        .await
    }

    async fn state_of(&self, email: &str) -> anyhow::Result<Value> {
        let record = self.record_of(email).await?.unwrap_or_default();
        Ok(record["state"].clone())
    }
}

#[tokio::test]
async fn what_a_provider_tells_of_suppresses_at_once_or_at_the_third_time() -> anyhow::Result<()> {
    let mut running = reported_to().await?;
    let now = OffsetDateTime::now_utc();
    running.report(by_mailgun("a", now, &failed(&reader(0)))?).await?;
    running
        .report(by_postmark(1, "SpamComplaint", &reader(1)))
        .await?;
    for id in 2..4 {
        running.report(by_postmark(id, "SoftBounce", &reader(2))).await?;
        // Told again, it counts once.
        running.report(by_postmark(id, "SoftBounce", &reader(2))).await?;
    }
    for number in [0, 1] {
        running.until_suppressed(&reader(number)).await?;
    }
    running.settled().await?;
    assert_eq!(
        running.state_of(&reader(2)).await?,
        "confirmed",
        "it came back twice"
    );
    running.report(by_postmark(4, "SoftBounce", &reader(2))).await?;
    running.until_suppressed(&reader(2)).await?;

    running
        .report(by_postmark(5, "AutoResponder", &reader(3)))
        .await?;
    let delivered = json!({ "event": "delivered", "recipient": reader(3) });
    running.report(by_mailgun("b", now, &delivered)?).await?;
    running
        .report(by_postmark(6, "HardBounce", "stranger@example.org"))
        .await?;
    running.settled().await?;
    assert_eq!(running.state_of(&reader(3)).await?, "confirmed");
    let events = running.nats.events().await?;
    let bounced = events.iter().filter(|event| event["type"] == BOUNCED);
    assert_eq!(bounced.count(), 5, "and none of a stranger");
    let words = serde_json::to_string(
        &events
            .iter()
            .map(|event| &event["data"]["reason"])
            .collect::<Vec<_>>(),
    )?;
    assert!(
        words.contains("reported by Mailgun: 5.1.1") && !words.contains('@'),
        "{words}"
    );
    Ok(())
}

#[tokio::test]
async fn what_is_not_the_providers_or_was_taken_before_is_refused() -> anyhow::Result<()> {
    let mut running = reported_to().await?;
    let now = OffsetDateTime::now_utc();
    let good = by_mailgun("a", now, &failed(&reader(0)))?;
    let mut forged = good.clone();
    forged.body = String::from_utf8(forged.body)?
        .replace("\"token\":\"a\"", "\"token\":\"b\"")
        .into();
    let stale = by_mailgun("c", now - Duration::minutes(61), &failed(&reader(0)))?;
    let mut unauthorized = by_postmark(1, "HardBounce", &reader(0));
    unauthorized.authorization = format!("Basic {}", STANDARD.encode("postmark:guessed"));
    for request in [forged, stale, unauthorized] {
        assert_eq!(running.refused(request).await, Code::PermissionDenied);
    }
    let elsewhere = TakeMailReportRequest {
        provider: "sendgrid".to_owned(),
        ..good.clone()
    };
    assert_eq!(running.refused(elsewhere).await, Code::NotFound);
    let unreadable = TakeMailReportRequest {
        body: b"{".to_vec(),
        ..good.clone()
    };
    assert_eq!(running.refused(unreadable).await, Code::InvalidArgument);
    assert!(running.event_types().await?.is_empty());

    // A signature says nothing of the event beside it: whoever has seen one could forge others.
    running.report(good).await?;
    let replayed = by_mailgun("a", now, &failed(&reader(1)))?;
    assert_eq!(running.refused(replayed).await, Code::PermissionDenied);
    assert_eq!(running.event_types().await?, [BOUNCED]);
    Ok(())
}

#[tokio::test]
async fn a_signature_of_mailguns_is_good_for_one_report_at_all_replicas_and_after_a_restart()
-> anyhow::Result<()> {
    let mut running = reported_to().await?;
    let mailgun = Mailgun::new(SIGNING_KEY).ok();
    let (mut other, _stop) = replica(&running.nats, |settings| {
        settings.mail_reports.mailgun_signing_key = mailgun;
    })
    .await?;
    let now = OffsetDateTime::now_utc();
    let good = by_mailgun("a", now, &failed(&reader(0)))?;
    let delivered = json!({ "event": "delivered", "recipient": reader(0) });
    running.report(good.clone()).await?;
    running.report(by_mailgun("b", now, &delivered)?).await?;
    for token in ["a", "b"] {
        let forged = by_mailgun(token, now, &failed(&reader(1)))?;
        let answered = other.take_mail_report(forged).await;
        let code = answered.map_or_else(|status| status.code(), |_| Code::Ok);
        assert_eq!(code, Code::PermissionDenied, "{token}");
    }
    // Posted again, as where our answer was lost, it is the same report.
    other.take_mail_report(good).await?;
    assert_eq!(running.event_types().await?, [BOUNCED]);
    Ok(())
}

#[tokio::test]
async fn a_report_that_the_broker_does_not_take_is_to_be_posted_again() -> anyhow::Result<()> {
    let mut running = reported_to().await?;
    running.operator.delete_key_value(SUBSCRIBERS_BUCKET).await?;
    let report = by_mailgun("a", OffsetDateTime::now_utc(), &failed(&reader(0)))?;
    assert_eq!(running.refused(report).await, Code::Unavailable);
    Ok(())
}

#[tokio::test]
async fn no_report_is_taken_where_no_provider_is_set_up() -> anyhow::Result<()> {
    let mut running = crate::running().await?;
    let request = by_mailgun(
        &Uuid::new_v4().to_string(),
        OffsetDateTime::now_utc(),
        &failed(&reader(0)),
    )?;
    assert_eq!(running.refused(request).await, Code::NotFound);
    assert_eq!(
        running.refused(by_postmark(1, "HardBounce", &reader(0))).await,
        Code::NotFound
    );
    Ok(())
}

/// What SNS posts: these fields, which are signed, in their order.
fn by_sns(signer: &SnsSigner, fields: &[(&str, String)]) -> anyhow::Result<TakeMailReportRequest> {
    let words: String = fields
        .iter()
        .map(|(name, value)| format!("{name}\n{value}\n"))
        .collect();
    let mut body = json!({
        "SignatureVersion": "2", "Signature": signer.sign(&words)?, "SigningCertURL": format!("{SNS}{CERTIFICATE}"),
        "UnsubscribeURL": format!("{SNS}/?Action=Unsubscribe"),
    });
    for (name, value) in fields {
        body[*name] = value.as_str().into();
    }
    Ok(TakeMailReportRequest {
        provider: "ses".to_owned(),
        authorization: String::new(),
        body: body.to_string().into(),
    })
}

/// A report of SES's about this reader.
fn by_ses(signer: &SnsSigner, email: &str) -> anyhow::Result<TakeMailReportRequest> {
    let message = json!({
        "notificationType": "Bounce",
        "bounce": {
            "bounceType": "Permanent", "bounceSubType": "General", "feedbackId": "0000",
            "bouncedRecipients": [{ "emailAddress": email, "status": "5.1.1", "action": "failed" }],
        },
    });
    let fields = [
        ("Message", message.to_string()),
        ("MessageId", Uuid::new_v4().to_string()),
        ("Timestamp", OffsetDateTime::now_utc().format(&Rfc3339)?),
        ("TopicArn", TOPIC.to_owned()),
        ("Type", "Notification".to_owned()),
    ];
    by_sns(signer, &fields)
}

#[tokio::test]
async fn amazon_is_asked_for_its_certificate_once_and_told_that_reports_are_wanted() -> anyhow::Result<()> {
    let (signer, other) = (SnsSigner::new()?, SnsSigner::new()?);
    let certificate = signer.certificate()?;
    let sns = HttpStandIn::start(move |asked| match asked.path.as_str() {
        CERTIFICATE => Reply::Text(200, certificate.clone()),
        "/" => Reply::Text(200, "<ConfirmSubscriptionResponse/>".to_owned()),
        _ => Reply::Text(404, String::new()),
    })
    .await?;
    let nats = Nats::start().await?;
    seed_subscribers(&nats, PERSON_KEY, (0..5).map(reader)).await?;
    let topic = SesTopic::new(TOPIC).ok();
    let address = sns.url().parse()?;
    let mut running = running_on(nats, |settings| {
        settings.mail_reports.ses_topic = topic;
        settings.mail_reports.ses_sns_url = Some(address);
    })
    .await?;
    let confirm = "/?Action=ConfirmSubscription&Token=2336412f37fb687f5d51e6e2425dacbb";
    let fields = [
        ("Message", "You have chosen to subscribe to the topic.".to_owned()),
        ("MessageId", Uuid::new_v4().to_string()),
        ("SubscribeURL", format!("{SNS}{confirm}")),
        ("Timestamp", OffsetDateTime::now_utc().format(&Rfc3339)?),
        ("Token", "2336412f37fb687f5d51e6e2425dacbb".to_owned()),
        ("TopicArn", TOPIC.to_owned()),
        ("Type", "SubscriptionConfirmation".to_owned()),
    ];
    running.report(by_sns(&signer, &fields)?).await?;
    running.report(by_ses(&signer, &reader(0))?).await?;
    assert_eq!(
        running.refused(by_ses(&other, &reader(1))?).await,
        Code::PermissionDenied
    );
    running.until_suppressed(&reader(0)).await?;
    running.settled().await?;
    assert_eq!(running.event_types().await?, [BOUNCED]);
    let asked: Vec<String> = sns
        .asked()
        .iter()
        .map(|asked| format!("{}?{}", asked.path, asked.query))
        .collect();
    assert_eq!(asked, [format!("{CERTIFICATE}?"), confirm.to_owned()]);
    Ok(())
}

#[tokio::test]
async fn a_report_waits_for_amazon_that_is_away() -> anyhow::Result<()> {
    let topic = SesTopic::new(TOPIC).ok();
    let signer = SnsSigner::new()?;
    let mut running = running_on(Nats::start().await?, |settings| {
        settings.mail_reports.ses_topic = topic;
        settings.mail_reports.ses_sns_url = Some(http::Uri::from_static("http://127.0.0.1:9"));
    })
    .await?;
    assert_eq!(
        running.refused(by_ses(&signer, &reader(0))?).await,
        Code::Unavailable
    );
    Ok(())
}
