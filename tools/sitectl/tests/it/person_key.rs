//! Commands refuse a different `PERSON_KEY`, because it would find nobody.

use std::{fs, path::Path};

use site_events::SITE_STREAM;
use tempfile::TempDir;
use testkit::seed_subscribers;

use crate::{
    backup_bucket::Backups,
    site::{PERSON_KEY, Site, message},
    tool::{assert_says, refused, told, with},
};

const ASHA: &str = "asha@example.org";
const ANOTHER: &str = "--person-key=another person key of thirty-two bytes";
const SAYS: [&str; 2] = ["PERSON_KEY is wrong", "set up with another key"];

#[tokio::test(flavor = "multi_thread")]
async fn another_person_key_is_refused_and_changes_nothing() -> anyhow::Result<()> {
    let site = Site::start().await?;
    seed_subscribers(&site.nats, PERSON_KEY, [ASHA.to_owned()]).await?;
    site.publish(ASHA, message("Asha Rao", ASHA)?).await?;
    let config = async || {
        let stream = site.jetstream().await?.get_stream(SITE_STREAM).await?;
        anyhow::Ok(stream.cached_info().config.clone())
    };
    let before = (site.nats.events().await?, config().await?);
    let folder = TempDir::new()?;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (to, table, post) = (path("asha"), path("table.csv"), path("post.md"));
    let row = format!("email,confirmed,source\n{ASHA},2026-11-01T10:00:00Z,fair\n");
    fs::write(&table, row)?;
    fs::write(&post, "---\ntitle: News\nexcerpt: What is new\n---\nWords.\n")?;
    for (words, flags) in [
        (&["person", "export", ASHA, &to][..], &site.flags),
        (&["person", "erase", ASHA], &site.flags),
        (&["person", "erase", ASHA, "--yes"], &site.flags),
        (&["setup", "--max-age=7"], &site.flags),
        (&["subscribers", "import", &table, "--yes"], &site.broker),
        (&["subscribers", "lift", ASHA], &site.broker),
        (&["newsletter", "test", &post, "--to", ASHA], &site.broker),
    ] {
        assert_says(&refused(words, &with(flags, ANOTHER))?, &SAYS);
    }
    assert!(!Path::new(&to).exists(), "nobody was exported");
    assert_eq!((site.nats.events().await?, config().await?), before);
    told(&["person", "erase", ASHA, "--yes"], &site.flags)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_keeps_the_key_of_the_backup() -> anyhow::Result<()> {
    let (before, site) = (Site::start().await?, Site::empty().await?);
    let erase = ["person", "erase", ASHA, "--yes"];
    assert_says(&refused(&erase, &site.flags)?, &["PERSON_KEY", "sitectl setup"]);
    before.publish(ASHA, message("Asha Rao", ASHA)?).await?;
    let backups = Backups::of(&before);
    backups.make()?;
    told(&["restore", "--yes"], &backups.restore_into(&site))?;
    for words in [&["setup"][..], &erase] {
        assert_says(&refused(words, &with(&site.flags, ANOTHER))?, &SAYS);
        told(words, &site.flags)?;
    }
    Ok(())
}
