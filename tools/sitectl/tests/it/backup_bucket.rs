//! `sitectl backup` and `sitectl restore` with a second bucket.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    process::Stdio,
    time::{Duration, SystemTime},
};

use age::{secrecy::ExposeSecret, x25519::Identity};
use anyhow::Context as _;
use serde_json::{Value, json};
use testkit::{S3Fault, User, eventually};
use time::{OffsetDateTime, macros::format_description};
use tokio::{process::Command, time::sleep};

use crate::{
    backup::{RESUME, SERVED, fill},
    site::{SOON, Site, message},
    tool::{assert_says, refused, told, told_json, tool, with},
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Bucket of backups, and the key that decrypts them.
pub struct Backups {
    identity: Identity,
    pub backup: Vec<String>,
    bucket: Vec<String>,
}

impl Backups {
    /// Backups into a second bucket of the site's store, by users that have no other rights.
    pub fn of(site: &Site) -> Self {
        let identity = Identity::generate();
        let resumes = with(&site.s3.flags(), "--s3-access-key-id=backup");
        let backups = resumes.iter().map(|flag| flag.replace("--s3-", "--backup-s3-"));
        let bucket: Vec<String> = backups.map(|flag| flag.replace("=resumes", "=backups")).collect();
        let recipients = vec![format!("--backup-recipients={}", identity.to_public())];
        Self {
            backup: [site.nats.flags(User::Backup), resumes, bucket.clone(), recipients].concat(),
            identity,
            bucket,
        }
    }

    pub fn make(&self) -> anyhow::Result<Value> {
        told_json(&["backup"], &self.backup)
    }

    fn make_and_keep(&self, days: u16) -> anyhow::Result<Value> {
        let keep = format!("--backup-keep-days={days}");
        told_json(&["backup", &keep], &self.backup)
    }

    pub fn restore_into(&self, site: &Site) -> Vec<String> {
        self.restore_with(&site.flags)
    }

    /// Flags of `restore` into the stores of `flags`.
    pub fn restore_with(&self, flags: &[String]) -> Vec<String> {
        let secret = self.identity.to_string();
        let file = format!("# made by a test\n{}\n", secret.expose_secret());
        let identity = vec![format!("--backup-identity={file}")];
        [flags, &self.bucket, &identity].concat()
    }
}

fn backup_file(site: &Site, key: &str) -> PathBuf {
    site.s3.folder.join("backups").join(key)
}

pub fn keys(site: &Site) -> anyhow::Result<BTreeSet<String>> {
    let files = site.s3.objects_of("backups")?.into_iter();
    Ok(files.map(|(key, _)| key).collect())
}

fn name_of(backup: &Value) -> anyhow::Result<String> {
    let to = backup["to"].as_str().context("where it is")?;
    let name = to.trim_end_matches('/').rsplit('/').next();
    Ok(name.context("its name")?.to_owned())
}

/// Waits, because two backups of one second would have the same name.
async fn next_second() {
    sleep(Duration::from_millis(1_100)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_backup_sends_new_objects_only() -> anyhow::Result<()> {
    let site = Site::start().await?;
    site.publish(SERVED, message("Zoë Müller", SERVED)?).await?;
    let first_resume = site.apply().await?;
    site.apply().await?;
    let backups = Backups::of(&site);
    let first = backups.make()?;
    assert_eq!(first["sent"]["objects"], 2);
    let after_the_first = keys(&site)?;

    site.apply().await?;
    site.resumes()?.delete(&first_resume).await?;
    next_second().await;
    let second = backups.make()?;
    assert_eq!(second["sent"]["objects"], 1, "{second}");
    assert_eq!(second["backedUp"]["objects"], 2, "{second}");
    let after_the_second = keys(&site)?;
    let new: Vec<&String> = after_the_second.difference(&after_the_first).collect();
    let objects = new.iter().filter(|key| key.starts_with("objects/")).count();
    // The backup adds nine streams, the manifest, and one object.
    assert_eq!((new.len(), objects), (9 + 1 + 1, 1), "{new:?}");
    assert!(after_the_first.is_subset(&after_the_second));

    for (backup, has_first_resume) in [(&first, true), (&second, false)] {
        let restored = Site::empty().await?;
        let from = format!("--from={}", name_of(backup)?);
        told(&["restore", &from, "--yes"], &backups.restore_into(&restored))?;
        let found = restored.resumes()?.object(first_resume.as_str()).await?;
        assert_eq!(found.is_some(), has_first_resume, "{from}");
        assert_eq!(restored.s3.objects()?.len(), 2);
    }

    // Other recipients cannot read the former copies, so all objects are sent again.
    next_second().await;
    let others = Backups::of(&site);
    assert_eq!(others.make()?["sent"]["objects"], 2);
    let restored = Site::empty().await?;
    told(&["restore", "--yes"], &others.restore_into(&restored))?;
    assert_eq!(restored.s3.objects()?, site.s3.objects()?);
    Ok(())
}

/// Fails if a file beside the manifest is not encrypted, or any file contains a secret.
fn ensure_encrypted(site: &Site, name: &str, secrets: [&str; 4]) -> anyhow::Result<()> {
    for (key, content) in site.s3.objects_of("backups")? {
        let text = String::from_utf8_lossy(&content);
        for secret in secrets {
            let is_shown = text.contains(secret) || key.contains(secret);
            assert!(!is_shown, "{secret} is in {key}");
        }
        let is_encrypted = content.starts_with(b"age-encryption.org/v1\n");
        assert_eq!(is_encrypted, key != format!("{name}/manifest.json"), "{key}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_restored_only_whole_and_with_its_identity() -> anyhow::Result<()> {
    let site = Site::start().await?;
    site.publish(SERVED, message("Zoë Müller", SERVED)?).await?;
    let resume = site.apply().await?;
    let backups = Backups::of(&site);
    let name = name_of(&backups.make()?)?;
    ensure_encrypted(&site, &name, [SERVED, "Zoë", RESUME, resume.as_str()])?;
    let empty = Site::empty().await?;
    let flags = backups.restore_into(&empty);
    let identity = Identity::generate().to_string();
    let other = format!("--backup-identity={}", identity.expose_secret());
    let said = refused(&["restore", "--yes"], &with(&flags, &other))?;
    assert_says(&said, &["cannot be decrypted", "BACKUP_IDENTITY_FILE"]);
    let object = keys(&site)?.into_iter().find(|key| key.starts_with("objects/"));
    let object = object.context("an object")?;
    for key in [object, format!("{name}/streams/SITE.snapshot.age")] {
        let file = backup_file(&site, &key);
        let was = fs::read(&file)?;
        let mut altered = was.clone();
        altered[was.len() - 1] ^= 1;
        fs::write(&file, altered)?;
        let said = refused(&["restore", "--yes"], &flags)?;
        assert_says(&said, &["altered", &key]);
        for left in [Some(&was[..was.len() - 1]), None] {
            fs::remove_file(&file)?;
            left.map(|left| fs::write(&file, left)).transpose()?;
            let said = refused(&["restore", "--yes"], &flags)?;
            assert_says(&said, &["incomplete", &key]);
        }
        fs::write(&file, was)?;
    }
    assert!(empty.streams().await?.is_empty() && empty.s3.objects()?.is_empty());
    told(&["restore", "--yes"], &flags)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_backup_is_incomplete_and_blocks_no_other() -> anyhow::Result<()> {
    let site = Site::start().await?;
    fill(&site, 4).await?;
    site.apply().await?;
    let backups = Backups::of(&site);
    site.s3.fault(S3Fault::Slow(512 * 1024));
    let mut running = Command::from(tool(&["backup"], &backups.backup))
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    eventually("a part of the backup is stored", SOON, async || {
        let keys = keys(&site).ok()?;
        keys.iter().any(|key| key.contains("/streams/")).then_some(())
    })
    .await?;
    running.kill().await?;
    site.s3.fault(S3Fault::None);
    let left = keys(&site)?;
    let is_whole = left.iter().any(|key| key.ends_with("manifest.json"));
    assert!(!is_whole, "it was killed in time: {left:?}");
    let empty = Site::empty().await?;
    let said = refused(&["restore", "--yes"], &backups.restore_into(&empty))?;
    assert!(said.contains("has no complete backup"), "{said}");

    next_second().await;
    let whole = name_of(&backups.make()?)?;
    let restored = told_json(&["restore", "--yes"], &backups.restore_into(&empty))?;
    assert_eq!(restored["from"], json!(format!("s3://backups/{whole}/")));
    Ok(())
}

/// Makes a backup older: moves its files and changes its manifest.
fn backdate(site: &Site, backup: &Value, days: u32) -> anyhow::Result<String> {
    let name = name_of(backup)?;
    let format = format_description!("[year][month][day]T[hour][minute][second]Z");
    let earlier = (OffsetDateTime::now_utc() - DAY * days).format(format)?;
    fs::rename(backup_file(site, &name), backup_file(site, &earlier))?;
    let manifest = backup_file(site, &format!("{earlier}/manifest.json"));
    let text = fs::read_to_string(&manifest)?.replace(&name, &earlier);
    fs::write(manifest, text)?;
    Ok(earlier)
}

fn age_all_files(site: &Site, days: u32) -> anyhow::Result<()> {
    for key in keys(site)? {
        let file = fs::File::options().write(true).open(backup_file(site, &key))?;
        file.set_modified(SystemTime::now() - DAY * days)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn old_backups_are_pruned_except_the_last() -> anyhow::Result<()> {
    const OF_A_KILLED_BACKUP: &str = "20200101T000000Z/streams/SITE.snapshot.age";
    let site = Site::start().await?;
    let backups = Backups::of(&site);
    let gone = site.apply().await?;
    site.apply().await?;
    let first = backdate(&site, &backups.make_and_keep(60)?, 50)?;
    site.resumes()?.delete(&gone).await?;
    let second = backdate(&site, &backups.make_and_keep(60)?, 40)?;
    fs::create_dir_all(backup_file(&site, "20200101T000000Z/streams"))?;
    for left in [OF_A_KILLED_BACKUP, "README"] {
        fs::write(backup_file(&site, left), "no backup")?;
    }
    age_all_files(&site, 40)?;

    // A backup that fails removes nothing.
    let failing = with(&backups.backup, "--nats-url=nats://127.0.0.1:1");
    refused(&["backup", "--backup-keep-days=1"], &failing)?;
    let made = backups.make_and_keep(45)?;
    assert_eq!(made["removed"], json!([first]), "{made}");
    let there = keys(&site)?;
    let kept = [format!("{second}/manifest.json"), "README".to_owned()];
    assert!(kept.iter().all(|key| there.contains(key)), "{there:?}");
    let is_removed = |key: &String| key.starts_with(&first) || key == OF_A_KILLED_BACKUP;
    assert!(!there.iter().any(is_removed), "{there:?}");
    let objects = there.iter().filter(|key| key.starts_with("objects/")).count();
    assert_eq!(
        objects, 1,
        "the deleted résumé went with the backup that named it"
    );

    next_second().await;
    let last = backups.make_and_keep(1)?;
    assert_eq!(last["removed"], json!([second]), "today's backups stay");
    let restored = Site::empty().await?;
    told(&["restore", "--yes"], &backups.restore_into(&restored))?;
    assert_eq!(restored.s3.objects()?, site.s3.objects()?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_backup_survives_a_slow_bucket() -> anyhow::Result<()> {
    let site = Site::start().await?;
    fill(&site, 20).await?;
    let backups = Backups::of(&site);
    // Sending a part takes longer than the broker's ack timeout, and than the timeout of a résumé.
    site.s3.fault(S3Fault::Slow(700 * 1024));
    let made = backups.make()?;
    site.s3.fault(S3Fault::None);
    assert!(made["bytes"].as_u64() > Some(18 * 1024 * 1024), "{made}");
    let restored = Site::empty().await?;
    told(&["restore", "--yes"], &backups.restore_into(&restored))?;
    let former = site.jetstream().await?.get_stream("SITE").await?;
    let restored = restored.jetstream().await?.get_stream("SITE").await?;
    let last = former.cached_info().state.last_sequence;
    let sent = former.get_raw_message(last).await?;
    let came = restored.get_raw_message(last).await?;
    assert_eq!((sent.payload, sent.time), (came.payload, came.time));
    Ok(())
}
