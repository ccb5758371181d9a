//! State that all pods share.

use std::{
    fs::File,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use anyhow::Context as _;
use nix::sched::{CloneFlags, setns};
use tokio::{runtime::Builder, sync::oneshot};

use crate::{manifests::Manifests, network::Network};

/// Volumes and logs of the pods, until the next run.
pub const FOLDER: &str = "/tmp/rehearsal";
/// Folder that every container sees: the hosts file, and the authorities that it trusts.
pub const SHARED: &str = "/tmp/rehearsal/shared";

pub struct Cluster {
    pub manifests: Manifests,
    pub network: Mutex<Network>,
}

impl Cluster {
    pub fn network(&self) -> MutexGuard<'_, Network> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs work in a pod's network namespace, under that pod's policies.
///
/// # Errors
///
/// If the namespace does not exist, or the work panics.
pub async fn within<T, F>(pod: &str, work: impl FnOnce() -> F + Send + 'static) -> anyhow::Result<T>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let namespace = File::open(format!("/run/netns/{pod}"))?;
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || {
        let run = || {
            setns(&namespace, CloneFlags::CLONE_NEWNET)?;
            let runtime = Builder::new_current_thread().enable_all().build()?;
            anyhow::Ok(runtime.block_on(work()))
        };
        drop(sender.send(run()));
    });
    receiver.await.context("the work panicked")?
}
