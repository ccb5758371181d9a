//! A faulty setting ends the start with a sentence that names it.

use std::process::Output;

use serde_json::json;
use testkit::pass_flags;
use tokio::{process::Command, time::timeout};

use crate::running::{SOON, settings_flags};

/// Runs the program to its end, with these flags and no broker.
async fn start(more: &[String]) -> anyhow::Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_notifier"));
    command.env_clear().kill_on_drop(true);
    pass_flags(command.as_std_mut(), &settings_flags(9, more));
    Ok(timeout(SOON, command.output()).await??)
}

async fn refusal(more: &[String]) -> anyhow::Result<String> {
    let output = start(more).await?;
    assert!(!output.status.success(), "{more:?} was taken");
    let said = String::from_utf8(output.stderr)?;
    assert_eq!(said.lines().count(), 1, "{more:?}: {said}");
    Ok(said)
}

#[tokio::test]
async fn a_setting_that_is_wrong_is_named_with_the_reason() -> anyhow::Result<()> {
    for (flag, named, reason) in [
        ("--sales-to=nobody", "--sales-to", "not an e-mail address"),
        (
            "--recruiters-to=a b c",
            "--recruiters-to",
            "not an e-mail address",
        ),
        ("--mail-from=<>", "--mail-from", "not an e-mail address"),
        ("--site-url=company.com", "--site-url", "not an address"),
        (
            "--smtp-ca-file=/nowhere/ca.pem",
            "/nowhere/ca.pem",
            "cannot be read",
        ),
        ("--smtp-ca-file=/dev/null", "--smtp-ca-file", "no certificates"),
        (
            "--smtp-timeout-seconds=0",
            "--smtp-timeout-seconds",
            "not in 1..=40",
        ),
        ("--trace-share=7", "--trace-share", "not a number from 0 to 1"),
        ("--trace-share=-1", "--trace-share", "not a number from 0 to 1"),
        ("--trace-share=NaN", "--trace-share", "not a number from 0 to 1"),
        (
            "--otlp-endpoint=https://collector:4317",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "it must begin with http://, or authorities to trust be set",
        ),
        (
            "--otlp-endpoint=collector:4317",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "it must begin with http://, or authorities to trust be set",
        ),
        ("--otlp-endpoint=http://", "--otlp-endpoint", "empty string"),
    ] {
        let said = refusal(&[flag.to_owned()]).await?;
        assert!(said.contains(named) && said.contains(reason), "{flag}: {said}");
    }
    Ok(())
}

#[tokio::test]
async fn a_signature_that_cannot_be_made_ends_the_start() -> anyhow::Result<()> {
    const SEED: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    const PKCS8: &str = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----";
    const GARBAGE: &str = "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----";
    for (selector, domain, key, named, reason) in [
        ("site", "oculant.example", GARBAGE, "DKIM_KEY", "PKCS#1"),
        ("site", "oculant.example", PKCS8, "DKIM_KEY", "PKCS#8"),
        ("site", "oculant.example", "AAAA", "DKIM_KEY", "Ed25519"),
        ("si te", "oculant.example", SEED, "--dkim-selector", "no DNS name"),
        (
            "site",
            "https://oculant.example",
            SEED,
            "--dkim-domain",
            "no DNS name",
        ),
    ] {
        let said = refusal(&[
            format!("--dkim-selector={selector}"),
            format!("--dkim-domain={domain}"),
            format!("--dkim-key={key}"),
        ])
        .await?;
        assert!(said.contains(named) && said.contains(reason), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
    Ok(())
}

#[tokio::test]
async fn an_endpoint_that_is_wrong_ends_the_start_before_anything_is_connected() -> anyhow::Result<()> {
    for (url, private, reason) in [
        ("https://", false, "no address"),
        ("ftp://crm.example/hooks", false, "neither with https://"),
        ("ftp://crm.example/hooks", true, "neither with https://"),
        ("http://crm.example/hooks", false, "not https"),
        ("https://10.0.0.7/hooks", false, "private address"),
    ] {
        let webhooks = json!([{
            "name": "crm",
            "url": url,
            "secrets": ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
            "events": ["contact.received"],
        }]);
        let mut flags = vec![format!("--webhooks={webhooks}")];
        flags.extend(private.then(|| "--webhooks-allow-private".to_owned()));
        let said = refusal(&flags).await?;
        assert!(
            said.contains("WEBHOOKS") && said.contains("endpoint crm"),
            "{said}"
        );
        assert!(said.contains(reason), "{url}: {said}");
    }
    let said = refusal(&["--webhooks=[{}]".to_owned()]).await?;
    assert!(
        said.contains("WEBHOOKS") && said.contains("missing field"),
        "{said}"
    );
    Ok(())
}

#[tokio::test]
async fn a_grace_period_in_which_a_mail_could_be_sent_twice_is_refused() -> anyhow::Result<()> {
    for (flags, least) in [
        (&["--grace-seconds=639"][..], "640"),
        (&["--smtp-timeout-seconds=31"], "641"),
        (
            &[
                "--smtp-timeout-seconds=1",
                "--smtp-answer-seconds=1",
                "--grace-seconds=29",
            ],
            "30",
        ),
    ] {
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let said = refusal(&flags).await?;
        assert!(
            said.contains("GRACE_SECONDS") && said.contains(&format!("at least {least},")),
            "{said}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn without_root_certificates_a_store_behind_tls_is_refused() -> anyhow::Result<()> {
    for (flag, named) in [
        ("--s3-endpoint=https://s3.example.com", "--s3-endpoint"),
        (
            "--s3-public-endpoint=https://s3.example.com",
            "--s3-public-endpoint",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_notifier"));
        command
            .env_clear()
            .env("SSL_CERT_FILE", "/nowhere/ca.pem")
            .env("SSL_CERT_DIR", "/nowhere")
            .kill_on_drop(true);
        pass_flags(command.as_std_mut(), &settings_flags(9, &[flag.to_owned()]));
        let output = timeout(SOON, command.output()).await??;
        let said = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(named) && said.contains("ca-certificates"), "{said}");
    }
    Ok(())
}
