//! `sitectl backup` and `sitectl restore` with a second bucket.

use std::{collections::BTreeSet, path::PathBuf, process::Stdio};

use age::{secrecy::ExposeSecret, x25519::Identity};
use anyhow::Context as _;
use async_nats::jetstream;
use resumes::{ResumeKey, ResumeStore};
use serde_json::{Value, json};
use testkit::{Nats, S3, S3Fault, User, eventually, pass_flags};
use tokio::process::Command;

use crate::{
    backup::{Parts, SERVED, SOON, cut_line, fill},
    tool::{command, message, publish, refused, sitectl, told, told_json},
};

/// A place for backups, and who can read them.
pub struct Backups {
    identity: Identity,
    /// What makes a backup of these parts.
    pub backup: Vec<String>,
    /// What reads the backups, without an identity.
    bucket: Vec<String>,
}

impl Backups {
    /// Of these parts, made by users who may do nothing else, in the bucket beside theirs.
    pub fn of(nats: &Nats, s3: &S3) -> anyhow::Result<Self> {
        let identity = Identity::generate();
        let mut resumes = s3.flags();
        resumes.retain(|flag| !flag.starts_with("--s3-access-key-id="));
        resumes.push("--s3-access-key-id=backup".to_owned());
        let backups = resumes.iter().map(|flag| flag.replace("--s3-", "--backup-s3-"));
        let bucket: Vec<String> = backups.map(|flag| flag.replace("=resumes", "=backups")).collect();
        let recipients = format!("--backup-recipients={}", identity.to_public());
        let broker = nats.flags(User::Backup).into_iter();
        Ok(Self {
            backup: broker
                .chain(resumes)
                .chain(bucket.clone())
                .chain([recipients])
                .collect(),
            identity,
            bucket,
        })
    }

    pub fn make(&self) -> anyhow::Result<Value> {
        told_json(&["backup"], &self.backup)
    }

    /// What restores one into these parts.
    pub fn restore_into(&self, parts: &Parts) -> Vec<String> {
        self.restore_with(&parts.flags)
    }

    /// What restores one where these flags lead.
    pub fn restore_with(&self, flags: &[String]) -> Vec<String> {
        let secret = self.identity.to_string();
        let file = format!("# made by a test\n{}\n", secret.expose_secret());
        let identity = format!("--backup-identity={file}");
        let flags = flags.iter().chain(&self.bucket).cloned();
        flags.chain([identity]).collect()
    }
}

/// File of a backup's object.
pub fn backup_file(parts: &Parts, key: &str) -> PathBuf {
    parts.s3.folder.join("backups").join(key)
}

/// The keys of the bucket of backups.
pub fn keys(parts: &Parts) -> anyhow::Result<BTreeSet<String>> {
    let files = parts.s3.objects_of("backups")?.into_iter();
    Ok(files.map(|(key, _)| key).collect())
}

pub fn name_of(backup: &Value) -> anyhow::Result<String> {
    let to = backup["to"].as_str().context("where it is")?;
    let name = to.trim_end_matches('/').rsplit('/').next();
    Ok(name.context("its name")?.to_owned())
}

/// A name is of one second.
pub async fn next_second() {
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_backup_sends_only_new_objects_and_keeps_what_is_gone_from_the_source() -> anyhow::Result<()>
{
    let parts = Parts::set_up().await?;
    publish(&parts.nats, SERVED, message("Zoë Müller", SERVED)?).await?;
    let first_resume = parts.apply().await?;
    parts.apply().await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    let first = backups.make()?;
    assert_eq!(first["sent"]["objects"], 2);
    let after_the_first = keys(&parts)?;

    parts.apply().await?;
    ResumeStore::new(&parts.s3.settings()?)
        .delete(&first_resume)
        .await?;
    next_second().await;
    let second = backups.make()?;
    assert_eq!(second["sent"]["objects"], 1, "{second}");
    assert_eq!(second["backedUp"]["objects"], 2, "{second}");
    let after_the_second = keys(&parts)?;
    let new: Vec<&String> = after_the_second.difference(&after_the_first).collect();
    let objects = new.iter().filter(|key| key.starts_with("objects/")).count();
    assert_eq!(
        (new.len(), objects),
        (9 + 1 + 1, 1),
        "nine streams, the manifest, and one object: {new:?}"
    );
    assert!(after_the_first.is_subset(&after_the_second));

    for (backup, has_first_resume) in [(&first, true), (&second, false)] {
        let site = Parts::fresh().await?;
        let from = format!("--from={}", name_of(backup)?);
        told(&["restore", &from, "--yes"], &backups.restore_into(&site))?;
        let found = ResumeStore::new(&site.s3.settings()?)
            .object(first_resume.as_str())
            .await?;
        assert_eq!(found.is_some(), has_first_resume, "{from}");
        assert_eq!(site.s3.objects()?.len(), 2);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_is_sent_can_be_read_without_the_identity() -> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    publish(&parts.nats, SERVED, message("Zoë Müller", SERVED)?).await?;
    let resume: ResumeKey = parts.apply().await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    let name = name_of(&backups.make()?)?;
    for (key, content) in parts.s3.objects_of("backups")? {
        let text = String::from_utf8_lossy(&content);
        for secret in [SERVED, "Zoë", "this is what Asha can do", resume.as_str()] {
            assert!(
                !text.contains(secret) && !key.contains(secret),
                "{secret} stands in {key}"
            );
        }
        let is_encrypted = content.starts_with(b"age-encryption.org/v1\n");
        assert_eq!(is_encrypted, key != format!("{name}/manifest.json"), "{key}");
    }
    let site = Parts::fresh().await?;
    let mut other = backups.restore_into(&site);
    other.retain(|flag| !flag.starts_with("--backup-identity"));
    let identity = Identity::generate().to_string();
    other.push(format!("--backup-identity={}", identity.expose_secret()));
    let said = refused(&["restore", "--yes"], &other)?;
    assert!(
        said.contains("cannot be decrypted") && said.contains("BACKUP_IDENTITY_FILE"),
        "{said}"
    );
    let without: Vec<String> = site.flags.iter().chain(&backups.bucket).cloned().collect();
    let output = sitectl(&command(&["restore", "--yes"], &without))?;
    let said = String::from_utf8(output.stderr)?;
    assert!(
        !output.status.success() && said.contains("BACKUP_IDENTITY"),
        "{said}"
    );
    assert!(site.streams().await?.is_empty() && site.s3.objects()?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_gets_new_recipients_sends_every_object_again() -> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    parts.apply().await?;
    let former = Backups::of(&parts.nats, &parts.s3)?;
    former.make()?;
    next_second().await;
    let new = Backups::of(&parts.nats, &parts.s3)?;
    assert_eq!(new.make()?["sent"]["objects"], 1);
    let site = Parts::fresh().await?;
    told(&["restore", "--yes"], &new.restore_into(&site))?;
    assert_eq!(site.s3.objects()?, parts.s3.objects()?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_killed_in_the_middle_is_none_and_hinders_no_other() -> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    fill(&parts.nats, 4).await?;
    parts.apply().await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    parts.s3.fault(S3Fault::Slow(512 * 1024));
    let mut tool = std::process::Command::new(env!("CARGO_BIN_EXE_sitectl"));
    pass_flags(&mut tool, &command(&["backup"], &backups.backup));
    let mut running = Command::from(tool)
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    eventually("something of the backup is there", SOON, async || {
        keys(&parts)
            .ok()?
            .iter()
            .any(|key| key.contains("/streams/"))
            .then_some(())
    })
    .await?;
    running.kill().await?;
    parts.s3.fault(S3Fault::None);
    let left = keys(&parts)?;
    assert!(
        !left.iter().any(|key| key.ends_with("manifest.json")),
        "it was killed in time: {left:?}"
    );
    let site = Parts::fresh().await?;
    let said = refused(&["restore", "--yes"], &backups.restore_into(&site))?;
    assert!(said.contains("holds no whole backup"), "{said}");

    next_second().await;
    let whole = name_of(&backups.make()?)?;
    let restored = told_json(&["restore", "--yes"], &backups.restore_into(&site))?;
    assert_eq!(restored["from"], json!(format!("s3://backups/{whole}/")));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_goes_away_leaves_no_backup_in_the_bucket() -> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    fill(&parts.nats, 4).await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    let port = cut_line(&parts.nats, 2 * 1024 * 1024).await?;
    let mut flags = backups.backup.clone();
    flags.retain(|flag| !flag.starts_with("--nats-url"));
    flags.push(format!("--nats-url=nats://127.0.0.1:{port}"));
    let said = refused(&["backup"], &flags)?;
    assert!(
        said.contains("there is no backup") && said.contains("fell silent"),
        "{said}"
    );
    assert!(!keys(&parts)?.iter().any(|key| key.ends_with("manifest.json")));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_lost_a_file_or_got_another_is_not_restored() -> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    publish(&parts.nats, SERVED, message("Zoë Müller", SERVED)?).await?;
    parts.apply().await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    let name = name_of(&backups.make()?)?;
    let site = Parts::fresh().await?;
    let flags = backups.restore_into(&site);
    let object = keys(&parts)?.into_iter().find(|key| key.starts_with("objects/"));
    for key in [
        object.context("an object")?,
        format!("{name}/streams/SITE.snapshot.age"),
    ] {
        let file = backup_file(&parts, &key);
        let was = std::fs::read(&file)?;
        let mut altered = was.clone();
        altered[was.len() - 1] ^= 1;
        std::fs::write(&file, altered)?;
        let said = refused(&["restore", "--yes"], &flags)?;
        assert!(said.contains("altered") && said.contains(&key), "{said}");
        for left in [Some(&was[..was.len() - 1]), None] {
            std::fs::remove_file(&file)?;
            left.map(|left| std::fs::write(&file, left)).transpose()?;
            let said = refused(&["restore", "--yes"], &flags)?;
            assert!(said.contains("incomplete") && said.contains(&key), "{said}");
        }
        std::fs::write(&file, was)?;
    }
    told(&["restore", "--yes"], &flags)?;
    Ok(())
}

/// Moves the backup's files and changes its manifest.
fn age_by_days(parts: &Parts, name: &str, days: i64) -> anyhow::Result<String> {
    use time::{Duration, OffsetDateTime};
    let earlier = OffsetDateTime::now_utc() - Duration::days(days);
    let format = time::macros::format_description!("[year][month][day]T[hour][minute][second]Z");
    let earlier = earlier.format(format)?;
    std::fs::rename(backup_file(parts, name), backup_file(parts, &earlier))?;
    let manifest = backup_file(parts, &format!("{earlier}/manifest.json"));
    let text = std::fs::read_to_string(&manifest)?.replace(name, &earlier);
    std::fs::write(manifest, text)?;
    Ok(earlier)
}

fn age_files_by_days(parts: &Parts, below: &str, days: u64) -> anyhow::Result<()> {
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(days * 24 * 60 * 60);
    for key in keys(parts)?.iter().filter(|key| key.starts_with(below)) {
        let file = std::fs::File::options()
            .write(true)
            .open(backup_file(parts, key))?;
        file.set_modified(then)?;
    }
    Ok(())
}

/// Both are old: a part of a killed backup, and a foreign file.
fn leave_what_is_no_backup(parts: &Parts) -> anyhow::Result<()> {
    let left = backup_file(parts, "20200101T000000Z/streams/SITE.snapshot.age");
    std::fs::create_dir_all(left.parent().context("its folder")?)?;
    std::fs::write(&left, "a part of it")?;
    std::fs::write(backup_file(parts, "README"), "of somebody else")?;
    age_files_by_days(parts, "20200101T000000Z", 40)?;
    age_files_by_days(parts, "README", 40)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_old_goes_with_the_objects_that_nothing_else_names_and_the_last_good_one_stays()
-> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    let store = ResumeStore::new(&parts.s3.settings()?);
    let gone = parts.apply().await?;
    parts.apply().await?;
    let keep = |days: u16| {
        let flags = backups.backup.iter().cloned();
        flags
            .chain([format!("--backup-keep-days={days}")])
            .collect::<Vec<_>>()
    };
    let make = || name_of(&told_json(&["backup"], &keep(60))?);
    let first = age_by_days(&parts, &make()?, 50)?;
    store.delete(&gone).await?;
    let second = age_by_days(&parts, &make()?, 40)?;
    age_files_by_days(&parts, "", 40)?;
    leave_what_is_no_backup(&parts)?;

    // A backup that fails removes nothing.
    let mut failing = keep(1);
    failing.retain(|flag| !flag.starts_with("--nats-url"));
    failing.push("--nats-url=nats://127.0.0.1:1".to_owned());
    refused(&["backup"], &failing)?;
    let made = told_json(&["backup"], &keep(45))?;
    assert_eq!(made["removed"], json!([first]), "{made}");
    let there = keys(&parts)?;
    assert!(
        there.contains(&format!("{second}/manifest.json")) && there.contains("README"),
        "{there:?}"
    );
    assert!(
        !there
            .iter()
            .any(|key| key.starts_with(&first) || key.starts_with("2020")),
        "{there:?}"
    );
    let objects = there.iter().filter(|key| key.starts_with("objects/")).count();
    assert_eq!(
        objects, 1,
        "that which is gone went with the backup that named it"
    );

    next_second().await;
    let last = told_json(&["backup"], &keep(1))?;
    assert_eq!(
        last["removed"],
        json!([second]),
        "the one of today stays, and so does what was just made"
    );
    let site = Parts::fresh().await?;
    told(&["restore", "--yes"], &backups.restore_into(&site))?;
    assert_eq!(site.s3.objects()?, parts.s3.objects()?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_backup_is_sent_in_parts_to_a_slow_bucket_and_comes_back_whole() -> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    fill(&parts.nats, 20).await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    // A part takes longer than the broker waits for an acknowledgement, and than a visitor would for a résumé.
    parts.s3.fault(S3Fault::Slow(700 * 1024));
    let made = backups.make()?;
    parts.s3.fault(S3Fault::None);
    assert!(made["bytes"].as_u64() > Some(18 * 1024 * 1024), "{made}");
    let site = Parts::fresh().await?;
    told(&["restore", "--yes"], &backups.restore_into(&site))?;
    let [former, restored] = [&parts, &site].map(|parts| parts.nats.client(User::Operator));
    let former = jetstream::new(former.await?).get_stream("SITE").await?;
    let restored = jetstream::new(restored.await?).get_stream("SITE").await?;
    let last = former.cached_info().state.last_sequence;
    let [sent, came] = [
        former.get_raw_message(last).await?,
        restored.get_raw_message(last).await?,
    ];
    assert_eq!((sent.payload, sent.time), (came.payload, came.time));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_to_the_bucket_that_nobody_could_read_or_place_is_not_begun() -> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    let without = |flag: &str| {
        let mut flags = command(&["backup"], &backups.backup);
        flags.retain(|given| !given.starts_with(flag));
        let output = sitectl(&flags)?;
        anyhow::ensure!(!output.status.success(), "{flag}");
        Ok(String::from_utf8(output.stderr)?)
    };
    for (flag, setting) in [
        ("--backup-recipients", "BACKUP_RECIPIENTS"),
        ("--backup-s3-endpoint", "BACKUP_S3_ENDPOINT"),
        ("--backup-s3-secret-access-key", "BACKUP_S3_SECRET_ACCESS_KEY"),
    ] {
        let said = without(flag)?;
        assert!(said.contains(setting), "{said}");
    }
    let mut flags = backups.backup.clone();
    flags.retain(|flag| !flag.starts_with("--backup-recipients"));
    flags.push("--backup-recipients=age1thisisnone".to_owned());
    let output = sitectl(&command(&["backup"], &flags))?;
    let said = String::from_utf8(output.stderr)?;
    assert!(
        !output.status.success() && said.contains("a public key begins with age1"),
        "{said}"
    );
    assert!(keys(&parts)?.is_empty());
    Ok(())
}
