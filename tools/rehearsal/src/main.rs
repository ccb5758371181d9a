//! Rehearsal of the rendered overlay `production` on one machine (docs/rehearsal.md).
#![expect(clippy::print_stdout, reason = "the scenes' results are the output")]

mod cluster;
mod container;
mod environment;
mod images;
mod manifests;
mod network;
mod outside;
mod pods;
mod reach;
mod scenes;
mod secrets;
mod visitors;
mod volumes;
mod workloads;

use std::{
    env, fs,
    os::unix::process::CommandExt as _,
    process::Command,
    sync::{Arc, Mutex},
};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use self::{
    cluster::{Cluster, FOLDER, SHARED},
    manifests::Manifests,
    network::Network,
    outside::Outside,
};

/// First argument of the process that runs in its own namespaces.
const ISOLATED: &str = "isolated";
const SCRIPT: &str = "tools/rehearsal/scripts/isolate.sh";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if env::args().nth(1).as_deref() != Some(ISOLATED) {
        let mut isolated = Command::new(testkit::root().join(SCRIPT));
        return Err(isolated.arg(env::current_exe()?).arg(ISOLATED).exec().into());
    }
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    // Removes files of the previous run.
    _ = fs::remove_dir_all(FOLDER);
    fs::create_dir_all(SHARED)?;
    let mut manifests = Manifests::render()?;
    let network = Mutex::new(Network::set_up(&manifests)?);
    let outside = Outside::start().await?;
    secrets::fill(&mut manifests, &outside)?;
    let cluster = Arc::new(Cluster { manifests, network });
    scenes::play(&cluster, &outside.mail_server).await
}
