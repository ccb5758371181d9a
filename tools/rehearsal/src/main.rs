//! A rehearsal of a cluster on one machine: starts what the rendered manifests of an overlay say, as a node would, and then does to it what
//! befalls a cluster.
//!
//! docs/rehearsal.md says what that shows, and what it cannot. It runs as root, in a network namespace and a mount namespace of its own, into which it brings itself.

mod certificates;
mod clear_text;
mod controllers;
mod environment;
mod evictions;
mod flows;
mod images;
mod kubelet;
mod lost_node;
mod manifests;
mod network;
mod outside;
mod overlay;
mod pages;
mod pods;
mod probes;
mod reach;
mod scenes;
mod secrets;
mod story;
mod visitors;
mod volumes;
mod within;

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    io::{Write as _, stdout},
    path::PathBuf,
    process::{Command, ExitCode},
    sync::{Arc, Mutex},
};

use clap::Parser;
use k8s_openapi::api::core::v1::{Pod, PodTemplateSpec};
use nix::{
    sys::resource::{Resource, getrlimit, setrlimit},
    unistd::Uid,
};
use tokio::runtime::Builder;

use self::{
    certificates::Issuers,
    images::Images,
    kubelet::Shared,
    manifests::pod_of,
    network::Network,
    outside::{Called, MAIL_PASSWORD, Outside},
    overlay::Overlay,
    pods::Node,
    secrets::SecretStore,
};

/// The namespace of the site, and that of the Gateway, whose label lets it in.
const GATEWAYS: (&str, &str) = ("gateways", "site/way-in");

/// Starts what an overlay says, and does to it what befalls a cluster
#[derive(Parser)]
struct Cli {
    /// An overlay of k8s/overlays, or a folder whose kustomization.yaml is over production
    #[arg(default_value = "production")]
    overlay: String,
    /// Starts everything, sends the three forms and tries what must be closed; leaves out what takes minutes
    #[arg(long)]
    short: bool,
    /// Keeps the pods' logs there
    #[arg(long)]
    logs: Option<PathBuf>,
    /// Says that this process is in namespaces of its own
    #[arg(long, hide = true)]
    isolated: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let cli = Cli::parse();
    if !cli.isolated {
        return isolated();
    }
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(rehearsed(&cli))?;
    Ok(ExitCode::SUCCESS)
}

/// The same in a network and with mounts of its own, as root; and with its own process ids, so that every process ends with it.
fn isolated() -> anyhow::Result<ExitCode> {
    let sudo = ["sudo", "--non-interactive"];
    let unshare = [
        "unshare",
        "--net",
        "--mount",
        "--propagation=private",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ];
    let sudo = if Uid::effective().is_root() {
        &[][..]
    } else {
        &sudo
    };
    let mut words: Vec<OsString> = sudo.iter().chain(&unshare).map(Into::into).collect();
    words.push(env::current_exe()?.into_os_string());
    words.extend(env::args_os().skip(1));
    words.push("--isolated".into());
    let status = Command::new(&words[0]).args(&words[1..]).status()?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn rehearsed(cli: &Cli) -> anyhow::Result<()> {
    let folder = tempfile::TempDir::new()?;
    let rehearsed = rehearse(cli, folder.path().to_owned()).await;
    if let Some(logs) = &cli.logs {
        fs::create_dir_all(logs)?;
        for entry in fs::read_dir(folder.path())? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "log")
                && let Some(name) = path.file_name()
            {
                fs::copy(&path, logs.join(name))?;
            }
        }
    }
    rehearsed
}

async fn rehearse(cli: &Cli, folder: PathBuf) -> anyhow::Result<()> {
    let root = testkit::root();
    let Overlay {
        mut manifests,
        restore,
        flows,
    } = Overlay::of(&root, &cli.overlay)?;
    let called = overlay::called(&manifests)?;
    let namespaces = BTreeMap::from([(
        GATEWAYS.0.to_owned(),
        BTreeMap::from([(GATEWAYS.1.to_owned(), "true".to_owned())]),
    )]);
    let named = called.places().map(|place| (place.host.clone(), place.address));
    let services = std::mem::take(&mut manifests.services);
    let policies = std::mem::take(&mut manifests.policies);
    let mut network = Network::set_up(&folder, services, policies, namespaces, named.into())?;
    network.join(&front_door())?;
    let outside = Outside::start(&folder.join("store"), &called).await?;
    let mut secrets = secrets_of(&outside)?;
    manifests.fill_secrets(&mut secrets);
    let mut issuers = Issuers::default();
    manifests.issue_certificates(&mut issuers)?;
    let authorities = folder.join("authorities.pem");
    // Whoever runs in a pod may read it, and only we the authority's own.
    fs::write(&authorities, fs::read(outside.authority.file())?)?;
    let images = Images {
        programs: root.join("target/debug"),
        authorities,
        scripts: folder.join("scripts"),
        root,
    };
    images.write_scripts()?;
    let shared = Arc::new(Shared {
        node: Node {
            hosts: network.hosts().to_owned(),
            folder,
            images,
        },
        manifests,
        restore,
        flows,
        network: Mutex::new(network),
    });
    say_what_is_other(&shared, &called)?;
    scenes::play(&shared, &outside, &mut secrets, &mut issuers, cli.short).await
}

/// The pod of a Gateway, by which visitors come in.
fn front_door() -> Pod {
    pod_of(&PodTemplateSpec::default(), visitors::FRONT_DOOR, GATEWAYS.0)
}

/// The store that the cluster's secrets are filled from.
fn secrets_of(outside: &Outside) -> anyhow::Result<SecretStore> {
    let mut known = vec![
        ("site/smtp", "password", MAIL_PASSWORD.to_owned()),
        ("site/dkim", "key", secrets::dkim_key()),
        ("site/webhooks", "endpoints", "[]".to_owned()),
    ];
    let store: BTreeMap<_, _> = outside.store.env().into();
    let backups: BTreeMap<_, _> = outside.store.backups_env()?.into();
    let whole = [&store["S3_ACCESS_KEY_ID"], &store["S3_SECRET_ACCESS_KEY"]];
    let of_backup = [
        &backups["BACKUP_S3_ACCESS_KEY_ID"],
        &backups["BACKUP_S3_SECRET_ACCESS_KEY"],
    ];
    for (user, [id, secret]) in [
        ("site/s3-careers", whole),
        ("site/s3-notifier", whole),
        ("site/s3-operator", whole),
        ("site/s3-backup", of_backup),
        ("site/backups", of_backup),
    ] {
        known.push((user, "access-key-id", id.clone()));
        known.push((user, "secret-access-key", secret.clone()));
    }
    known.push((
        "site/backups",
        "recipients",
        outside.identity.to_public().to_string(),
    ));
    Ok(SecretStore::new(known))
}

/// What is not as the manifests say.
fn say_what_is_other(shared: &Shared, called: &Called) -> anyhow::Result<()> {
    let mut out = stdout();
    let manifests = &shared.manifests;
    let templates = manifests.workloads().map(|(_, template, _)| template);
    let (mut taken, mut missing) = (Vec::new(), Vec::new());
    for image in templates.flat_map(controllers::images) {
        match shared.node.images.find(&image) {
            Some(_) => taken.push(image),
            None => missing.push(image),
        }
    }
    writeln!(out, "Other than in a cluster:")?;
    writeln!(
        out,
        "- images are programs of this checkout and machine: {}",
        taken.join(", ")
    )?;
    writeln!(out, "- no program here, so not started: {}", missing.join(", "))?;
    writeln!(
        out,
        "- volumes are folders; names come from a hosts file, not by DNS; authorities to trust are the rehearsal's own"
    )?;
    writeln!(
        out,
        "- secrets hold values that were made up, and certificates of authorities that were; {} are servers of the rehearsal",
        called.places().map(|place| place.host.as_str()).join(", ")
    )?;
    let others: Vec<String> = manifests
        .others
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    writeln!(
        out,
        "- nothing acts on: {}; nor on limits of memory and processor time, seccomp, and where pods are placed",
        others.join(", ")
    )?;
    Ok(())
}
