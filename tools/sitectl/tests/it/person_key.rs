//! Nobody is found with another key of person ids, so commands refuse it.

use std::{fs, path::Path};

use async_nats::jetstream;
use site_events::SITE_STREAM;
use tempfile::TempDir;
use testkit::{Nats, S3, User, seed_subscribers};

use crate::{
    backup::Parts,
    backup_bucket::Backups,
    tool::{PERSON_KEY, message, publish, refused, told},
};

const ASHA: &str = "asha@example.org";
const RIGHT: &str = "--person-key=a person key of thirty-two bytes or more";
const ANOTHER: &str = "--person-key=another person key of thirty-two bytes";

fn with_key(flags: &[String], key: &str) -> Vec<String> {
    [flags, &[key.to_owned()]].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn with_another_key_nothing_is_exported_and_nothing_called_erased() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    seed_subscribers(&nats, PERSON_KEY, [ASHA.to_owned()]).await?;
    publish(&nats, ASHA, message("Asha Rao", ASHA)?).await?;
    let before = nats.events().await?;
    let broker: Vec<String> = nats.flags(User::Operator);
    let stores = [&broker[..], &s3.flags()].concat();
    let folder = TempDir::new()?;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (to, table, post) = (path("asha"), path("table.csv"), path("post.md"));
    fs::write(
        &table,
        format!("email,confirmed,source\n{ASHA},2026-11-01T10:00:00Z,fair\n"),
    )?;
    fs::write(&post, "---\ntitle: News\nexcerpt: What is new\n---\nWords.\n")?;
    for (words, flags) in [
        (&["person", "export", ASHA, &to][..], &stores),
        (&["person", "erase", ASHA], &stores),
        (&["person", "erase", ASHA, "--yes"], &stores),
        (&["subscribers", "import", &table, "--yes"], &broker),
        (&["subscribers", "lift", ASHA], &broker),
        (&["newsletter", "test", &post, "--to", ASHA], &broker),
    ] {
        let said = refused(words, &with_key(flags, ANOTHER))?;
        assert!(
            said.contains("PERSON_KEY is wrong") && said.contains("set up with another key"),
            "{words:?}: {said}"
        );
    }
    assert!(!Path::new(&to).exists(), "an export of nobody");
    assert_eq!(nats.events().await?, before);
    told(&["person", "erase", ASHA, "--yes"], &with_key(&stores, RIGHT))?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn setup_with_another_key_is_refused_and_changes_nothing() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let flags = [nats.flags(User::Operator), s3.flags()].concat();
    let site = jetstream::new(nats.client(User::Operator).await?);
    let before = site.get_stream(SITE_STREAM).await?.cached_info().config.clone();
    let said = refused(&["setup", "--max-age=7"], &with_key(&flags, ANOTHER))?;
    assert!(said.contains("PERSON_KEY is wrong"), "{said}");
    assert_eq!(site.get_stream(SITE_STREAM).await?.cached_info().config, before);
    told(&["setup"], &with_key(&flags, RIGHT))?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn before_setup_a_command_says_what_to_run() -> anyhow::Result<()> {
    let site = Parts::fresh().await?;
    let said = refused(&["person", "erase", ASHA, "--yes"], &with_key(&site.flags, RIGHT))?;
    assert!(
        said.contains("PERSON_KEY") && said.contains("sitectl setup"),
        "{said}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_keeps_the_key_of_the_backup() -> anyhow::Result<()> {
    let (before, site) = (Parts::set_up().await?, Parts::fresh().await?);
    publish(&before.nats, ASHA, message("Asha Rao", ASHA)?).await?;
    let backups = Backups::of(&before.nats, &before.s3)?;
    backups.make()?;
    told(&["restore", "--yes"], &backups.restore_into(&site))?;
    for words in [&["setup"][..], &["person", "erase", ASHA, "--yes"]] {
        let said = refused(words, &with_key(&site.flags, ANOTHER))?;
        assert!(said.contains("PERSON_KEY is wrong"), "{words:?}: {said}");
        told(words, &with_key(&site.flags, RIGHT))?;
    }
    Ok(())
}
