//! Files of a new installation.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use tempfile::TempDir;

use crate::tool::{assert_says, refused, tool};

const ANSWERS: [&str; 6] = [
    "--domain=www.company.test",
    "--registry=registry.company.test/site",
    "--image-version=1.2.3",
    "--mail-from=Company <hello@company.test>",
    "--sales-to=sales@company.test",
    "--smtp-host=smtp.company.test",
];

fn init(folder: &Path, more: &[&str]) -> anyhow::Result<String> {
    let flags: Vec<String> = ANSWERS.iter().chain(more).map(|&flag| flag.to_owned()).collect();
    let mut init = tool(&["init"], &flags);
    let output = init
        .env("S3_SECRET_ACCESS_KEY", "a secret")
        .current_dir(folder)
        .output()?;
    Ok(String::from_utf8([output.stdout, output.stderr].concat())?)
}

fn value<'a>(env: &'a str, name: &str) -> &'a str {
    let line = env
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    line.unwrap_or_default()
}

#[test]
fn an_env_file_is_written_once_and_only_its_owner_reads_it() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    assert_says(&init(folder.path(), &[])?, &[".env", "backup-identity.txt"]);
    let file = folder.path().join(".env");
    let env = fs::read_to_string(&file)?;
    assert_eq!(value(&env, "MAIL_FROM"), "'Company <hello@company.test>'");
    assert_eq!(
        value(&env, "RECRUITERS_TO"),
        "sales@company.test",
        "by default as sales'"
    );
    assert_eq!(value(&env, "SMTP_TLS"), "starttls");
    assert_eq!(value(&env, "PERSON_KEY").len(), 64);
    assert_ne!(value(&env, "PERSON_KEY"), value(&env, "TOKEN_KEY"));
    assert!(value(&env, "BACKUP_RECIPIENTS").starts_with("age1"));
    assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
    assert_says(
        &init(folder.path(), &[])?,
        &[".env exists, and is not overwritten"],
    );
    assert_eq!(fs::read_to_string(&file)?, env);
    Ok(())
}

#[test]
fn an_overlay_holds_the_answers_and_secrets() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let store = ["--s3-endpoint=https://s3.company.test", "--s3-access-key-id=site"];
    for profile in ["small", "production"] {
        let flags = [format!("--kubernetes={profile}"), format!("--profile={profile}")];
        let flags: Vec<&str> = flags.iter().map(String::as_str).chain(store).collect();
        let written = ["secrets/nats.env", "secrets/backup-identity.txt"];
        assert_says(&init(folder.path(), &flags)?, &written);
        let read = |file: &str| fs::read_to_string(folder.path().join(profile).join(file));
        let overlay = read("kustomization.yaml")?;
        let answers = [
            &format!("- ../../overlays/{profile}"),
            "newName: registry.company.test/site/contact, newTag: \"1.2.3\"",
            "- \"SITE_URL=https://www.company.test\"",
            "- \"MAIL_FROM=Company <hello@company.test>\"",
            "value: [www.company.test]",
        ];
        assert_says(&overlay, &answers);
        let [contact, nats] = ["secrets/contact.env", "secrets/nats.env"].map(read);
        let (contact, nats) = (contact?, nats?);
        assert_eq!(value(&contact, "nats-password"), value(&nats, "contact-password"));
        assert_eq!(
            value(&contact, "person-key"),
            value(&read("secrets/careers.env")?, "person-key")
        );
    }
    Ok(())
}

#[test]
fn a_missing_or_wrong_answer_is_named() -> anyhow::Result<()> {
    let flags = |flags: &[&str]| flags.iter().map(|&flag| flag.to_owned()).collect::<Vec<_>>();
    assert_says(&refused(&["init"], &[])?, &["--domain is missing"]);
    let said = refused(
        &["init"],
        &flags(&[&ANSWERS[..], &["--recruiters-to=jobs@oculant.example"]].concat()),
    )?;
    assert_says(&said, &["--recruiters-to is wrong", "domain for examples"]);
    let said = refused(&["init"], &flags(&["--domain=https://company.test"]))?;
    assert_says(&said, &["--domain is wrong: \"https://company.test\""]);
    let said = refused(
        &["init"],
        &flags(&[&ANSWERS[..], &["--kubernetes=mine"]].concat()),
    )?;
    assert_says(&said, &["--s3-endpoint is missing"]);
    Ok(())
}
