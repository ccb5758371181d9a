//! The examples of docs/webhooks.md accept our webhooks and no others.

use std::{
    io::{self, Write as _},
    process::{Command, Stdio},
};

use standardwebhooks::Webhook;
use testkit::{receiver::secret, root};
use time::OffsetDateTime;

use crate::verify_webhook;

const ID: &str = "0199d4c0-0000-7000-8000-000000000000";
const BODY: &[u8] = "{\"message\": \"Zoë, two cameras\"}\n".as_bytes();

#[derive(Clone)]
struct Came {
    secret: String,
    timestamp: String,
    signatures: String,
    body: Vec<u8>,
}

impl Came {
    fn signed(secret: &str, age: i64) -> anyhow::Result<Self> {
        let timestamp = OffsetDateTime::now_utc().unix_timestamp() - age;
        Ok(Self {
            secret: secret.to_owned(),
            timestamp: timestamp.to_string(),
            signatures: Webhook::new(secret)?.sign(ID, timestamp, BODY)?,
            body: BODY.to_owned(),
        })
    }
}

fn webhooks() -> anyhow::Result<Vec<(&'static str, Came, bool)>> {
    let (ours, other) = (secret(), secret());
    let good = Came::signed(&ours, 0)?;
    let changed = Came {
        body: b"{\"message\": \"ten cameras\"}\n".to_vec(),
        ..good.clone()
    };
    let of_others = Came {
        secret: other.clone(),
        ..good.clone()
    };
    let rotating = Came {
        signatures: format!("{} {}", Came::signed(&other, 0)?.signatures, good.signatures),
        ..good.clone()
    };
    let no_time = Came {
        timestamp: "soon".to_owned(),
        ..good.clone()
    };
    let unsigned = Came {
        signatures: String::new(),
        ..good.clone()
    };
    Ok(vec![
        ("as it is sent", good, true),
        ("while a secret rotates", rotating, true),
        ("changed", changed, false),
        ("of others", of_others, false),
        ("of an hour ago", Came::signed(&ours, 3600)?, false),
        ("of in an hour", Came::signed(&ours, -3600)?, false),
        ("without a time", no_time, false),
        ("unsigned", unsigned, false),
    ])
}

/// Command and file of each example. If Go is missing, its example is skipped with a message.
fn examples() -> anyhow::Result<Vec<(&'static [&'static str], &'static str)>> {
    let mut examples: Vec<(&[&str], &str)> = vec![
        (&["python3"], "verify_webhook.py"),
        (&["node"], "verify_webhook.mjs"),
        (&["bash"], "verify_webhook.sh"),
    ];
    match Command::new("go").arg("version").output() {
        Ok(_) => examples.push((&["go", "run"], "verify_webhook.go")),
        // The test runner hides the output of `eprintln!` in a passing test.
        Err(error) => writeln!(io::stderr(), "SKIPPED: verify_webhook.go is not run: go: {error}")?,
    }
    Ok(examples)
}

fn asked(program: &[&str], example: &str, came: &Came) -> anyhow::Result<bool> {
    let mut child = Command::new(program[0])
        .args(&program[1..])
        .arg(root().join("docs/examples").join(example))
        .env("WEBHOOK_SECRET", &came.secret)
        .env("WEBHOOK_ID", ID)
        .env("WEBHOOK_TIMESTAMP", &came.timestamp)
        .env("WEBHOOK_SIGNATURE", &came.signatures)
        .stdin(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // The write fails if the program exits before it has read everything.
        drop(stdin.write_all(&came.body));
    }
    let status = child.wait()?;
    match status.code() {
        Some(code @ (0 | 1)) => Ok(code == 0),
        _ => anyhow::bail!("{program:?} {example}: {status}"),
    }
}

#[test]
fn each_example_accepts_our_signatures_and_no_others() -> anyhow::Result<()> {
    let examples = examples()?;
    for (what, came, is_ours) in webhooks()? {
        for (program, example) in &examples {
            assert_eq!(asked(program, example, &came)?, is_ours, "{example}: {what}");
        }
        let now = u64::try_from(OffsetDateTime::now_utc().unix_timestamp())?;
        let Came {
            secret,
            timestamp,
            signatures,
            body,
        } = &came;
        let verified = verify_webhook::verify(secret, ID, timestamp, signatures, body, now);
        assert_eq!(verified, is_ours, "verify_webhook.rs: {what}");
    }
    Ok(())
}
