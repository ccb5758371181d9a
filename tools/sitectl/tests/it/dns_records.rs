//! Receivers verify the notifier's signatures by the zone that `sitectl dns-records` prints.

use base64::{Engine, engine::general_purpose::STANDARD};
use clap::Parser;
use notifier::{MailContext, MailEvent, RecruiterExtras, Settings, mail_of};
use serde_json::{Value, json};
use site_events::Channel;
use testkit::{external_program, root};
use time::OffsetDateTime;
use tokio::process::Command;

use crate::{
    site::TOKEN_KEY,
    tool::{assert_says, refused, sitectl, told, told_json},
};

/// The seed of RFC 8463, A.2.
const SEED: &str = "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=";

async fn rsa(bits: &str) -> anyhow::Result<String> {
    let mut make = Command::new("openssl");
    make.args(["genrsa", "-traditional", bits]);
    external_program::run(make, b"").await
}

fn settings(key: &str) -> Vec<String> {
    [
        "--mail-from=Oculant <hello@oculant.example>",
        "--dkim-selector=site",
        "--dkim-domain=oculant.example",
        &format!("--dkim-key={key}"),
    ]
    .map(str::to_owned)
    .into()
}

async fn mails(settings: &[String]) -> anyhow::Result<Vec<String>> {
    let needed = [
        "notifier".to_owned(),
        format!("--brand-file={}", root().join("brand.json").display()),
        format!("--token-key={TOKEN_KEY}"),
        "--s3-access-key-id=nobody".to_owned(),
        "--s3-secret-access-key=nothing".to_owned(),
    ];
    let flags = needed.into_iter().chain(settings.iter().cloned());
    let context = MailContext::new(&Settings::try_parse_from(flags)?)?;
    let (now, mut encoded) = (OffsetDateTime::now_utc(), Vec::new());
    for channel in Channel::ALL {
        let event = webhooks::sample(channel.event_type(), now).payload;
        let event = MailEvent::read(channel, &event)?;
        let mail = mail_of(&context, &event, RecruiterExtras::default(), now).await?;
        encoded.push(STANDARD.encode(mail.into_message(&context, now)?.formatted()));
    }
    Ok(encoded)
}

/// Verification of the mails by a receiver that reads the zone.
async fn received(zone: &str, mails: &[String]) -> anyhow::Result<Value> {
    let asked = json!({ "domain": "oculant.example", "zone": zone, "mails": mails });
    let script = external_program::python("tools/sitectl/tests/foreign/verify_by_zone.py");
    let answer = external_program::run(script, asked.to_string().as_bytes()).await?;
    Ok(serde_json::from_str(&answer)?)
}

fn printed(settings: &[String], more: &[&str]) -> anyhow::Result<String> {
    let words = [&["dns-records", "--spf-include=_spf.provider.example"][..], more].concat();
    told(&words, settings)
}

#[tokio::test]
async fn receivers_verify_mails_by_the_printed_record() -> anyhow::Result<()> {
    for key in [rsa("2048").await?, rsa("4096").await?, SEED.to_owned()] {
        let settings = settings(&key);
        let zone = printed(&settings, &[])?;
        let mails = mails(&settings).await?;
        assert!(mails.len() > 5);
        let received = received(&zone, &mails).await?;
        assert_eq!(received["verified"], json!(vec![true; mails.len()]), "{zone}");
    }
    let others = printed(&settings(&rsa("2048").await?), &[])?;
    let received = received(&others, &mails(&settings(SEED)).await?[..1]).await?;
    assert_eq!(received["verified"], json!([false]), "{others}");
    Ok(())
}

#[tokio::test]
async fn the_zone_has_spf_and_dmarc_records() -> anyhow::Result<()> {
    let settings = settings(SEED);
    let more = [
        "--spf-host=mail.oculant.example",
        "--dmarc-policy=reject",
        "--dmarc-reports=dmarc@oculant.example",
    ];
    let zone = printed(&settings, &more)?;
    let texts = received(&zone, &[]).await?["texts"].clone();
    assert_eq!(
        texts["oculant.example"],
        "v=spf1 include:_spf.provider.example a:mail.oculant.example ~all"
    );
    assert_eq!(
        texts["_dmarc.oculant.example"],
        "v=DMARC1; p=reject; rua=mailto:dmarc@oculant.example"
    );
    assert_eq!(texts.as_object().map(serde_json::Map::len), Some(3), "{texts}");
    let json = told_json(&["dns-records", "--spf-host=mail.oculant.example"], &settings)?;
    assert_eq!(json["records"][1]["name"], "site._domainkey.oculant.example");
    assert_eq!(json["records"][2]["value"], "v=DMARC1; p=none");

    let unsigned = printed(&settings[..1], &[])?;
    assert_says(&unsigned, &["; There is no DKIM record"]);
    assert!(!unsigned.contains("DKIM1"), "{unsigned}");
    let foreign = ["--mail-from=hello@größe.example".to_owned()];
    let refusal = refused(&["dns-records", "--spf-host=mail.company.example"], &foreign)?;
    assert_says(&refusal, &["MAIL_FROM", "no DNS name"]);
    let nobody_sends = sitectl(&["dns-records"], &settings)?;
    let said = String::from_utf8(nobody_sends.stderr)?;
    assert_eq!(nobody_sends.status.code(), Some(2), "{said}");
    assert_says(&said, &["--spf-include"]);
    Ok(())
}
