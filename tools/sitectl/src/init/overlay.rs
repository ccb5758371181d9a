//! A company's Kubernetes overlay: `k8s/examples/overlay-<profile>` with its settings, and its secrets as files.

use std::{collections::BTreeMap, fmt::Write as _};

use anyhow::Context as _;
use clap::ValueEnum;

/// Size of an installation.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Profile {
    /// One copy of each program and one broker; the gateway serves the pages
    Small,
    /// Three brokers, autoscaling, TLS between pods, a scanner and alerts
    Production,
}

/// Keys of each Secret, with the setting that each holds.
const SECRETS: [(&str, &[(&str, &str)]); 8] = [
    ("gateway", &[("challenge-key", "CHALLENGE_KEY")]),
    (
        "contact",
        &[
            ("person-key", "PERSON_KEY"),
            ("nats-password", "NATS_CONTACT_PASSWORD"),
        ],
    ),
    (
        "newsletter",
        &[
            ("person-key", "PERSON_KEY"),
            ("token-key", "TOKEN_KEY"),
            ("nats-password", "NATS_NEWSLETTER_PASSWORD"),
        ],
    ),
    (
        "careers",
        &[
            ("person-key", "PERSON_KEY"),
            ("nats-password", "NATS_CAREERS_PASSWORD"),
            ("s3-access-key-id", "S3_ACCESS_KEY_ID"),
            ("s3-secret-access-key", "S3_SECRET_ACCESS_KEY"),
        ],
    ),
    (
        "notifier",
        &[
            ("token-key", "TOKEN_KEY"),
            ("nats-password", "NATS_NOTIFIER_PASSWORD"),
            ("s3-access-key-id", "S3_ACCESS_KEY_ID"),
            ("s3-secret-access-key", "S3_SECRET_ACCESS_KEY"),
            ("smtp-password", "SMTP_PASSWORD"),
            ("webhooks", "WEBHOOKS"),
        ],
    ),
    (
        "operator",
        &[
            ("person-key", "PERSON_KEY"),
            ("nats-password", "NATS_OPERATOR_PASSWORD"),
            ("s3-access-key-id", "S3_ACCESS_KEY_ID"),
            ("s3-secret-access-key", "S3_SECRET_ACCESS_KEY"),
            ("webhooks", "WEBHOOKS"),
        ],
    ),
    (
        "backup",
        &[
            ("nats-password", "NATS_BACKUP_PASSWORD"),
            ("s3-access-key-id", "S3_ACCESS_KEY_ID"),
            ("s3-secret-access-key", "S3_SECRET_ACCESS_KEY"),
            ("backups-access-key-id", "BACKUP_S3_ACCESS_KEY_ID"),
            ("backups-secret-access-key", "BACKUP_S3_SECRET_ACCESS_KEY"),
            ("recipients", "BACKUP_RECIPIENTS"),
        ],
    ),
    (
        "nats",
        &[
            ("contact-password", "NATS_CONTACT_PASSWORD"),
            ("newsletter-password", "NATS_NEWSLETTER_PASSWORD"),
            ("careers-password", "NATS_CAREERS_PASSWORD"),
            ("notifier-password", "NATS_NOTIFIER_PASSWORD"),
            ("reader-password", "NATS_READER_PASSWORD"),
            ("backup-password", "NATS_BACKUP_PASSWORD"),
            ("operator-password", "NATS_OPERATOR_PASSWORD"),
            ("monitor-password", "NATS_MONITOR_PASSWORD"),
            ("routes-password", "NATS_ROUTES_PASSWORD"),
        ],
    ),
];

/// Files of the overlay: path and content.
///
/// # Errors
///
/// If a setting is missing.
pub fn files(profile: Profile, settings: &BTreeMap<&str, String>) -> anyhow::Result<Vec<(String, String)>> {
    let of = |name: &str| settings.get(name).with_context(|| format!("{name} is missing"));
    let example = match profile {
        Profile::Small => include_str!("../../../../k8s/examples/overlay-small/kustomization.yaml"),
        Profile::Production => include_str!("../../../../k8s/examples/overlay-production/kustomization.yaml"),
    };
    let example = example
        .replace("registry.example/site", of("REGISTRY")?)
        .replace("newTag: example", &format!("newTag: {:?}", of("VERSION")?))
        .replace("value: [www.example.com]", &format!("value: [{}]", of("DOMAIN")?));
    let mut overlay = String::new();
    // Skips the first lines, which say how to use the example.
    for line in example.lines().skip_while(|line| line.starts_with('#')) {
        let indented = line.trim_start();
        let literal = indented
            .strip_prefix("- ")
            .and_then(|literal| literal.split_once('='));
        let set = literal.and_then(|(name, _)| Some((name, settings.get(name)?)));
        match set {
            Some((name, value)) => {
                let indent = &line[..line.len() - indented.len()];
                writeln!(overlay, "{indent}- {:?}", format!("{name}={value}"))?;
            }
            None => writeln!(overlay, "{line}")?,
        }
    }
    let mut files = vec![("kustomization.yaml".to_owned(), overlay)];
    for (secret, keys) in SECRETS {
        let mut text = String::new();
        for (key, name) in keys {
            writeln!(text, "{key}={}", of(name)?)?;
        }
        files.push((format!("secrets/{secret}.env"), text));
    }
    Ok(files)
}
