//! Progress of long work: seen at a terminal, and nowhere else.

use std::process::Command;

use anyhow::ensure;
use async_nats::jetstream;
use site_broker::VISITOR_MAILS_BUCKET;
use tempfile::TempDir;
use testkit::{User, pass_flags};

use crate::{
    backup::{Parts, SERVED},
    tool::{PERSON_KEY, command, message, publish, sitectl},
};

/// What is seen of a command at a terminal of its own, which `script` makes.
fn seen(words: &[&str], flags: &[String]) -> anyhow::Result<String> {
    let mut terminal = Command::new("sh");
    let within = r#"exec script -qec "$0 $*" /dev/null"#;
    terminal.args(["-c", within, env!("CARGO_BIN_EXE_sitectl")]);
    let output = pass_flags(&mut terminal, &command(words, flags))
        .env("TERM", "xterm")
        .output()?;
    let seen = String::from_utf8(output.stdout)?;
    ensure!(output.status.success(), "{words:?}: {seen}");
    Ok(seen)
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_at_a_terminal_sees_how_far_it_is_and_a_job_writes_nothing_of_it() -> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    parts.apply().await?;
    let disk = TempDir::new()?;
    let [first, second] = ["first", "second"].map(|name| disk.path().join(name).display().to_string());

    let at_terminal = seen(&["backup", &first], &parts.flags)?;
    for told in [
        "stream SITE, compressed: ",
        "; uncompressed it is ",
        "objects: 1 of 1",
        "Backed up to ",
    ] {
        assert!(at_terminal.contains(told), "{told}: {at_terminal}");
    }
    let in_a_job = sitectl(&command(&["backup", &second], &parts.flags))?;
    assert!(in_a_job.status.success());
    assert_eq!(String::from_utf8(in_a_job.stderr)?, "");

    let fresh = Parts::fresh().await?;
    let at_terminal = seen(&["restore", &first, "--yes"], &fresh.flags)?;
    for told in [
        "checked: ",
        "stream SITE: ",
        "objects: 1 of 1",
        "Restored and checked ",
    ] {
        assert!(at_terminal.contains(told), "{told}: {at_terminal}");
    }
    Ok(())
}

/// Each by reading a stream, a bucket or the store: none of them tells of it by itself.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_read_to_its_end_tells_how_far_it_is_and_what_is_written_stays_whole()
-> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    parts.apply().await?;
    let counted = publish(&parts.nats, SERVED, message("Asha", SERVED)?).await?;
    let context = jetstream::new(parts.nats.client(User::Operator).await?);
    let mails = context.get_key_value(VISITOR_MAILS_BUCKET).await?;
    mails.put("0123456789abcdef0123456789abcdef", "{}".into()).await?;

    let person_key = format!("--person-key={PERSON_KEY}");
    let reads: [(&[&str], &str); 4] = [
        (&["leads", "list"], "stream SITE: "),
        (&["leads", "export"], "stream SITE: "),
        (&["sweep"], "objects: "),
        (
            &["person", "erase", SERVED, &person_key],
            "stream KV_visitor-mails: ",
        ),
    ];
    for (words, told) in reads {
        // The store is no setting of each.
        let flags = if matches!(words[0], "sweep" | "person") {
            parts.flags.clone()
        } else {
            parts.nats.flags(User::Operator)
        };
        let at_terminal = seen(words, &flags)?;
        assert!(at_terminal.contains(told), "{words:?}: {at_terminal}");
        if words[0] == "leads" {
            let is_its_row = |line: &str| line.contains(&counted.to_string()) && line.contains(SERVED);
            assert!(at_terminal.lines().any(is_its_row), "{at_terminal}");
        }
    }
    Ok(())
}
