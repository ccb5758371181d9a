//! The broker into which the drill of `k8s/overlays/drill` restores.

use std::{fs, process::Stdio, time::Duration};

use anyhow::Context as _;
use serde_json::Value;
use tempfile::TempDir;
use testkit::{Broker, Nats, S3, SmallDisk, User, eventually, free_ports, nats_server, root};
use tokio::{
    net::TcpStream,
    process::{Child, Command},
};

use crate::{
    backup_bucket::Backups,
    tool::{PERSON_KEY, told, told_json},
};

const SOON: Duration = Duration::from_secs(45);
const DRILL: &str = "k8s/overlays/drill";
/// A broker without a limit uses part of the disk: here, what production reserves.
const FORMER_DISK_MB: usize = 24_000;
const MEGABYTE: usize = 1_000_000;

fn pod() -> anyhow::Result<Value> {
    let manifest = fs::read_to_string(root().join(DRILL).join("restore-drill.yaml"))?;
    let objects: Vec<Value> = serde_saphyr::from_multiple(&manifest)?;
    let cron_job = objects.into_iter().find(|object| object["kind"] == "CronJob");
    let mut cron_job = cron_job.context("no cron job")?;
    Ok(cron_job["spec"]["jobTemplate"]["spec"]["template"]["spec"].take())
}

fn named<'a>(list: &'a Value, name: &str) -> anyhow::Result<&'a Value> {
    let mut items = list.as_array().into_iter().flatten();
    let item = items.find(|item| item["name"] == name);
    item.with_context(|| format!("there is no {name}"))
}

fn disk_of(pod: &Value) -> anyhow::Result<SmallDisk> {
    let claim = &named(&pod["volumes"], "broker")?["ephemeral"]["volumeClaimTemplate"]["spec"];
    let size = claim["resources"]["requests"]["storage"].as_str();
    let gibibytes = size.and_then(|size| size.strip_suffix("Gi"));
    let gibibytes: usize = gibibytes.context("a size in Gi")?.parse()?;
    SmallDisk::mount(gibibytes * 1024 * 1024 * 1024 / MEGABYTE)
}

/// With the manifest's command and configuration, on this disk.
fn broker(
    pod: &Value,
    folder: &TempDir,
    disk: &SmallDisk,
    [clients, monitor]: [u16; 2],
) -> anyhow::Result<Child> {
    let [folder, disk] = [folder.path(), disk.path()].map(|path| path.display().to_string());
    let configuration = fs::read_to_string(root().join(DRILL).join("broker.conf"))?;
    let configuration = configuration
        .replace("/data", &disk)
        .replace("0.0.0.0", "127.0.0.1");
    fs::write(format!("{folder}/broker.conf"), configuration)?;
    let words = named(&pod["initContainers"], "broker")?["command"].as_array();
    let words = words.context("no command")?.iter().filter_map(Value::as_str);
    let arguments = words
        .skip(1)
        .map(|word| word.replace("/data", &disk).replace("/etc/nats", &folder));
    let mut command = Command::new(nats_server());
    command.args(arguments).arg("--addr=127.0.0.1");
    command.args([format!("--port={clients}"), format!("--http_port={monitor}")]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.kill_on_drop(true).spawn()?)
}

fn storage_of_production() -> anyhow::Result<String> {
    let settings = fs::read_to_string(root().join("k8s/base/setup/kustomization.yaml"))?;
    let mut lines = settings.lines().map(str::trim);
    let found = lines.find_map(|line| line.strip_prefix("- STREAM_STORAGE_MB="));
    Ok(found.context("STREAM_STORAGE_MB")?.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drill_has_room_for_what_production_reserves() -> anyhow::Result<()> {
    let [port] = free_ports()?;
    let former_disk = SmallDisk::mount(FORMER_DISK_MB)?;
    let former = Nats::start_as(Broker::One, None, port, former_disk.path()).await?;
    let store = S3::start().await?;
    let of_store = store.flags().into_iter();
    let flags: Vec<String> = former.flags(User::Operator).into_iter().chain(of_store).collect();
    let storage = format!("--storage-mb={}", storage_of_production()?);
    let key = format!("--person-key={PERSON_KEY}");
    told(&["setup", &storage, &key], &flags)?;
    let backups = Backups::of(&former, &store)?;
    let made = backups.make()?;

    let (pod, files, ports) = (pod()?, TempDir::new()?, free_ports()?);
    let disk = disk_of(&pod)?;
    let _broker = broker(&pod, &files, &disk, ports)?;
    eventually("the drill's broker takes connections", SOON, async || {
        TcpStream::connect(("127.0.0.1", ports[0])).await.ok()
    })
    .await?;
    let bucket = S3::start().await?;
    let of_broker = [format!("--nats-url=nats://127.0.0.1:{}", ports[0])].into_iter();
    let flags: Vec<String> = of_broker.chain(bucket.flags()).collect();
    let restored = told_json(&["restore", "--yes"], &backups.restore_with(&flags))?;
    assert_eq!(restored["restored"], made["backedUp"]);
    Ok(())
}
