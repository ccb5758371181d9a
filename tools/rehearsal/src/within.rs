//! Work in the network of a pod, whose policies hold for it.

use std::{fs::File, thread};

use anyhow::Context as _;
use nix::sched::{CloneFlags, setns};
use tokio::{runtime::Builder, sync::oneshot};

/// Runs work on a thread of its own that is in this pod's network.
///
/// # Errors
///
/// If that network is not there, or the work panics.
pub async fn within<T, F>(pod: &str, work: impl FnOnce() -> F + Send + 'static) -> anyhow::Result<T>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let namespace = File::open(format!("/run/netns/{pod}"))?;
    let (tell, told) = oneshot::channel();
    thread::spawn(move || {
        let run = || {
            setns(&namespace, CloneFlags::CLONE_NEWNET)?;
            let runtime = Builder::new_current_thread().enable_all().build()?;
            anyhow::Ok(runtime.block_on(work()))
        };
        drop(tell.send(run()));
    });
    told.await.context("the work was given up")?
}
