//! Runs the tool and publishes events for it.

use std::{
    io,
    process::{Command, Output},
};

use anyhow::ensure;
use serde_json::Value;
use site_broker::Publisher;
use site_events::{EventData, event::ContactReceived};
use site_service::RequestId;
use testkit::{Nats, User, pass_flags};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId, PersonKey};

pub use testkit::PERSON_KEY;

pub fn sitectl(flags: &[String]) -> anyhow::Result<Output> {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_sitectl"));
    Ok(pass_flags(&mut tool, flags).output()?)
}

/// Runs it with its stdout closed, as after `head`.
pub fn unread(words: &[&str], flags: &[String]) -> anyhow::Result<Output> {
    let (_, stdout) = io::pipe()?;
    let mut tool = Command::new(env!("CARGO_BIN_EXE_sitectl"));
    let tool = pass_flags(&mut tool, &command(words, flags)).stdout(stdout);
    Ok(tool.output()?)
}

pub fn command(words: &[&str], flags: &[String]) -> Vec<String> {
    let words = words.iter().map(|&word| word.to_owned());
    words.chain(flags.iter().cloned()).collect()
}

pub fn told(words: &[&str], flags: &[String]) -> anyhow::Result<String> {
    let output = sitectl(&command(words, flags))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{words:?}: {complaint}");
    Ok(String::from_utf8(output.stdout)?)
}

/// Without the headings.
pub fn told_rows(words: &[&str], flags: &[String]) -> anyhow::Result<Vec<Vec<String>>> {
    let table = told(words, flags)?;
    let cells = |line: &str| -> Vec<String> {
        let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        cells.map(str::to_owned).collect()
    };
    Ok(table.lines().skip(1).map(cells).collect())
}

pub fn told_json(words: &[&str], flags: &[String]) -> anyhow::Result<Value> {
    let mut flags = flags.to_vec();
    flags.push("--json".to_owned());
    Ok(serde_json::from_str(&told(words, &flags)?)?)
}

pub fn refused(words: &[&str], flags: &[String]) -> anyhow::Result<String> {
    let output = sitectl(&command(words, flags))?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(
        output.status.code() == Some(1),
        "{words:?}: {:?}: {said}",
        output.status
    );
    ensure!(output.stdout.is_empty(), "{words:?} said something on stdout");
    ensure!(said.trim().lines().count() == 1, "{words:?}: {said}");
    Ok(said)
}

/// Output, and the sentence that the command ends with.
pub fn told_in_part(words: &[&str], flags: &[String]) -> anyhow::Result<(String, String)> {
    let output = sitectl(&command(words, flags))?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(
        output.status.code() == Some(1),
        "{words:?}: {:?}: {said}",
        output.status
    );
    ensure!(said.trim().lines().count() == 1, "{words:?}: {said}");
    Ok((String::from_utf8(output.stdout)?, said))
}

pub async fn publish<D: EventData>(nats: &Nats, email: &str, data: D) -> anyhow::Result<Uuid> {
    publish_of(nats, &person(email)?, data).await
}

pub async fn publish_of<D: EventData>(nats: &Nats, person: &PersonId, data: D) -> anyhow::Result<Uuid> {
    let id = D::TYPE.id_for(Uuid::new_v4());
    let publisher = Publisher::new(nats.client(User::Operator).await?);
    let request = RequestId::fresh();
    publisher.publish(&request, id, person, data).await?;
    Ok(id)
}

pub fn person(email: &str) -> anyhow::Result<PersonId> {
    let key = PersonKey::new(PERSON_KEY)?;
    Ok(key.person(&EmailAddress::parse(email)?))
}

pub fn message(name: &str, email: &str) -> anyhow::Result<ContactReceived> {
    Ok(ContactReceived {
        name: name.to_owned(),
        email: EmailAddress::parse(email)?,
        message: "Two cameras,\none question.".to_owned(),
        attribution: None,
    })
}

#[test]
fn it_ends_quietly_where_nobody_reads_on() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let pages = folder.path().display().to_string();
    for words in [["completions", "bash"], ["man-pages", &pages]] {
        let output = unread(&words, &[])?;
        assert_eq!(String::from_utf8(output.stderr)?, "", "{words:?}");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
    }
    Ok(())
}
