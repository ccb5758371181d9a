//! Disks that run full.

use std::{fs, io, path::Path};

use testkit::{Nats, Ports, SmallDisk, User};

use crate::publishing::publish_over;

fn is_mounted(folder: &Path) -> anyhow::Result<bool> {
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    Ok(mounts.contains(&*folder.to_string_lossy()))
}

#[test]
fn a_disk_has_its_size_is_filled_and_freed_and_goes_away_with_its_owner() -> anyhow::Result<()> {
    let disk = SmallDisk::mount(2)?;
    let folder = disk.path().to_owned();
    let write = |bytes: usize| fs::write(folder.join("spooled"), vec![1; bytes]);
    let kind = |written: io::Result<()>| written.err().map(|error| error.kind());
    assert_eq!(kind(write(3_000_000)), Some(io::ErrorKind::StorageFull));
    write(1_000_000)?;
    disk.fill(0)?;
    assert_eq!(kind(write(1_100_000)), Some(io::ErrorKind::StorageFull));
    disk.free()?;
    write(1_100_000)?;
    disk.fill(200_000)?;
    write(1_200_000)?;
    assert!(is_mounted(&folder)?);
    drop(disk);
    assert!(!is_mounted(&folder)? && !folder.exists());
    Ok(())
}

#[tokio::test]
async fn a_broker_whose_disk_is_full_keeps_what_it_acknowledged() -> anyhow::Result<()> {
    let disk = SmallDisk::mount(64)?;
    let mut nats = Nats::start_at(Ports::free()?.nats, disk.path()).await?;
    nats.provision_with(&["--storage-mb=16"]).await?;
    let client = nats.client(User::Contact).await?;
    publish_over(&client).await??;
    disk.fill(100_000)?;
    let mut stored = 1;
    let refused = loop {
        match publish_over(&client).await? {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
        anyhow::ensure!(stored < 1_000, "everything is taken though the disk is full");
    };
    disk.free()?;
    nats.stop().await?;
    nats.resume_from_disk().await?;
    let kept = nats.events().await?.len();
    // What it refused it may have stored even so, and who published it knows that.
    assert!(!refused.is_not_stored(), "{refused}");
    assert!(
        kept == stored || kept == stored + 1,
        "{kept} of {stored}: {refused}"
    );
    publish_over(&nats.client(User::Contact).await?).await??;
    nats.stop().await
}
