//! dkimpy verifies our signature on every mail, as a receiver would.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;
use testkit::external_program;
use tokio::process::Command;

use crate::{samples, snapshots::context, wire::every_mail};

/// The key pair of RFC 8463, A.2.
const SEED: &str = "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=";
const PUBLIC: &str = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

struct Key {
    private: String,
    record: String,
}

impl Key {
    fn ed25519() -> Self {
        Self {
            private: SEED.to_owned(),
            record: format!("v=DKIM1; k=ed25519; p={PUBLIC}"),
        }
    }

    /// Key pair made by the command in `notifier --help`.
    async fn rsa() -> anyhow::Result<Self> {
        let mut make = Command::new("openssl");
        make.args(["genrsa", "-traditional", "2048"]);
        let private = external_program::run(make, b"").await?;
        let mut publish = Command::new("openssl");
        publish.args(["rsa", "-pubout"]);
        let public = external_program::run(publish, private.as_bytes()).await?;
        let lines = public.lines().filter(|line| !line.starts_with('-'));
        let record = format!("v=DKIM1; k=rsa; p={}", lines.collect::<String>());
        Ok(Self { private, record })
    }

    fn flags(&self) -> [String; 3] {
        [
            "--dkim-selector=site".to_owned(),
            "--dkim-domain=oculant.example".to_owned(),
            format!("--dkim-key={}", self.private),
        ]
    }

    async fn mails(&self) -> anyhow::Result<Vec<(&'static str, String)>> {
        let flags = self.flags();
        let context = context(&flags.iter().map(String::as_str).collect::<Vec<_>>())?;
        let mails = samples::mails(&context).await?.into_iter();
        mails
            .map(|(name, mail)| {
                let message = mail.into_message(&context, samples::TIME)?;
                Ok((name, String::from_utf8(message.formatted())?))
            })
            .collect()
    }

    async fn verifies(&self, mails: &[String]) -> anyhow::Result<Vec<bool>> {
        let asked = json!({
            "name": "site._domainkey.oculant.example",
            "key": self.record,
            "mails": mails.iter().map(|mail| STANDARD.encode(mail)).collect::<Vec<_>>(),
        });
        let script = external_program::python("services/notifier/tests/foreign/verify_dkim.py");
        let answer = external_program::run(script, asked.to_string().as_bytes()).await?;
        Ok(serde_json::from_str(&answer)?)
    }
}

async fn ensure_verified_unless_changed(key: &Key) -> anyhow::Result<()> {
    let mails = key.mails().await?;
    let asked = mails.iter().flat_map(|(_, mail)| {
        let other_subject = mail.replacen("\r\nSubject: ", "\r\nSubject: Re: ", 1);
        let other_words = format!("{mail}And buy this, too.\r\n");
        [mail.clone(), other_subject, other_words]
    });
    let verified = key.verifies(&asked.collect::<Vec<_>>()).await?;
    assert_eq!(verified.len(), mails.len() * 3);
    for ((name, _), verified) in mails.iter().zip(verified.chunks(3)) {
        let expected = [true, false, false];
        assert_eq!(verified, expected, "{name}: as sent, other subject, other words");
    }
    Ok(())
}

/// Checks each mail as it is written and as a mail server receives it.
#[tokio::test]
async fn every_mail_verifies_by_its_own_key_unless_changed() -> anyhow::Result<()> {
    for key in [Key::rsa().await?, Key::ed25519()] {
        ensure_verified_unless_changed(&key).await?;
        let mails = every_mail(&key.flags()).await?;
        let verified = key.verifies(&mails).await?;
        assert_eq!(verified, vec![true; mails.len()], "{}", key.record);
    }
    let other = Key {
        record: Key::rsa().await?.record,
        ..Key::rsa().await?
    };
    let mails = other.mails().await?.into_iter().map(|(_, mail)| mail);
    let verified = other.verifies(&mails.collect::<Vec<_>>()).await?;
    assert!(verified.len() > 1, "{verified:?}");
    assert!(!verified.contains(&true), "by another key: {verified:?}");
    Ok(())
}
