//! A faulty setting ends the start with a sentence that names it.

use serde_json::json;
use testkit::pass_flags;
use tokio::{process::Command, time::timeout};

use crate::running::{SOON, settings_flags};

const NO_ROOTS: [(&str, &str); 2] = [("SSL_CERT_FILE", "/nowhere/ca.pem"), ("SSL_CERT_DIR", "/nowhere")];

async fn ensure_refused(
    variables: &[(&str, &str)],
    flags: &[&str],
    reasons: [&str; 2],
) -> anyhow::Result<()> {
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    ensure_not_started(variables, &settings_flags(9, &flags), &reasons).await
}

/// Runs the program to its end, with these flags and no broker.
async fn ensure_not_started(
    variables: &[(&str, &str)],
    flags: &[String],
    reasons: &[&str],
) -> anyhow::Result<()> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_notifier"));
    command
        .env_clear()
        .envs(variables.iter().copied())
        .kill_on_drop(true);
    pass_flags(command.as_std_mut(), flags);
    let output = timeout(SOON, command.output()).await??;
    assert!(!output.status.success(), "{flags:?} was taken");
    let said = String::from_utf8(output.stderr)?;
    assert_eq!(said.lines().count(), 1, "{flags:?}: {said}");
    for reason in reasons {
        assert!(said.contains(*reason), "{flags:?}: {said}");
    }
    assert!(!said.contains("hunter2"), "{said}");
    Ok(())
}

#[tokio::test]
async fn a_wrong_mail_setting_fails_the_start() -> anyhow::Result<()> {
    let need_tls = "it must begin with http://, or authorities to trust be set";
    for (flag, reasons) in [
        ("--sales-to=nobody", ["--sales-to", "not an e-mail address"]),
        ("--site-url=company.com", ["--site-url", "not an address"]),
        (
            "--smtp-ca-file=/nowhere/ca.pem",
            ["/nowhere/ca.pem", "cannot be read"],
        ),
        ("--smtp-ca-file=/dev/null", ["--smtp-ca-file", "no certificates"]),
        (
            "--otlp-endpoint=https://collector:4317",
            ["OTEL_EXPORTER_OTLP_ENDPOINT", need_tls],
        ),
        ("--webhooks=[{}]", ["WEBHOOKS", "missing field"]),
    ] {
        ensure_refused(&[], &[flag], reasons).await?;
    }
    for named in ["--s3-endpoint", "--s3-public-endpoint"] {
        let flag = format!("{named}=https://s3.example.com");
        ensure_refused(&NO_ROOTS, &[&flag], [named, "ca-certificates"]).await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_example_address_fails_the_start() -> anyhow::Result<()> {
    let real = ["--sales-to=sales@company.com", "--operator-to=ops@company.com"].map(str::to_owned);
    let mut flags = settings_flags(9, &real);
    flags.retain(|flag| flag != "--allow-example-addresses");
    let named = "set RECRUITERS_TO, MAIL_FROM, or, for a demo, ALLOW_EXAMPLE_ADDRESSES=true";
    ensure_not_started(&[], &flags, &[named]).await
}

#[tokio::test]
async fn an_unusable_dkim_key_or_selector_fails_the_start() -> anyhow::Result<()> {
    const SEED: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    const PKCS8: &str = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----";
    const GARBAGE: &str = "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----";
    for (selector, key, reasons) in [
        ("site", GARBAGE, ["DKIM_KEY", "PKCS#1"]),
        ("site", PKCS8, ["DKIM_KEY", "PKCS#8"]),
        ("site", "AAAA", ["DKIM_KEY", "Ed25519"]),
        ("si te", SEED, ["--dkim-selector", "no DNS name"]),
    ] {
        let selector = format!("--dkim-selector={selector}");
        let key = format!("--dkim-key={key}");
        ensure_refused(&[], &[&selector, "--dkim-domain=oculant.example", &key], reasons).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_wrong_endpoint_fails_the_start_before_connecting() -> anyhow::Result<()> {
    let webhooks = json!([{
        "name": "crm",
        "url": "http://crm.example/hooks",
        "secrets": ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        "events": ["contact.received"],
    }]);
    let webhooks = format!("--webhooks={webhooks}");
    ensure_refused(&[], &[&webhooks], ["endpoint crm", "not https"]).await
}
