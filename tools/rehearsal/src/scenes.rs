//! Scenes of a rehearsal, in order.

use std::{ops::Range, sync::Arc, time::Duration};

use anyhow::Context as _;
use futures_util::future::try_join_all;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    cluster::Cluster,
    manifests::name_of,
    outside::Outside,
    reach,
    visitors::{Sent, send_forms},
    workloads::{Workload, has_program, run_job},
};

const BROKER: &str = "nats";
const BEFORE_LOSS: Duration = Duration::from_secs(3);
const AFTER_LOSS: Duration = Duration::from_secs(20);

pub async fn play(cluster: &Arc<Cluster>, outside: &Outside) -> anyhow::Result<()> {
    let mut workloads = start(cluster).await?;
    let sent = send_forms(cluster, 8..11, CancellationToken::new()).await?;
    sent.all_accepted()?;
    sent.all_mailed(&outside.mail_server).await?;
    println!("forms: a sign-up, a message and an application accepted, and their mails sent");
    let flows = reach::check(cluster).await?;
    println!("flows: {flows}");
    lose_a_broker(cluster, outside, &mut workloads).await?;
    restart(cluster, outside, &mut workloads).await?;
    run_cron_jobs(cluster).await?;
    // Fails if a pod failed in the meantime.
    try_join_all(workloads.iter_mut().map(Workload::ready))
        .await
        .map(drop)
}

/// Starts stateful sets, then deployments. The job `setup` runs after each of these steps.
async fn start(cluster: &Arc<Cluster>) -> anyhow::Result<Vec<Workload>> {
    let begun = Instant::now();
    let manifests = &cluster.manifests;
    let mut workloads = Vec::new();
    for kind in ["StatefulSet", "Deployment"] {
        let objects = manifests.of_kind(kind);
        let mut started: Vec<_> = objects
            .filter_map(|object| Workload::start(cluster, object))
            .collect();
        try_join_all(started.iter_mut().map(Workload::ready)).await?;
        workloads.extend(started);
        // The job's second run changes nothing.
        for job in manifests.of_kind("Job") {
            run_job(cluster, job, &job["spec"]).await?;
        }
    }
    println!(
        "started: {} pods beside the front door ready after {:.0} s",
        cluster.network().endpoints.len() - 1,
        begun.elapsed().as_secs_f64(),
    );
    Ok(workloads)
}

async fn lose_a_broker(
    cluster: &Arc<Cluster>,
    outside: &Outside,
    workloads: &mut [Workload],
) -> anyhow::Result<()> {
    let mut workloads = workloads.iter_mut();
    let broker = workloads.find(|workload| workload.name == BROKER);
    let broker = broker.context("no broker")?;
    let losing = async {
        sleep(BEFORE_LOSS).await;
        broker.lose(cluster, 1).await?;
        sleep(AFTER_LOSS).await;
        broker.ready().await
    };
    beside_visitors(cluster, outside, "a broker lost", 1_000..9_000, losing)
        .await
        .map(drop)
}

/// Restarts the broker's servers in turn, then everything else. No form may fail.
async fn restart(
    cluster: &Arc<Cluster>,
    outside: &Outside,
    workloads: &mut [Workload],
) -> anyhow::Result<()> {
    let (brokers, others): (Vec<_>, Vec<_>) =
        workloads.iter_mut().partition(|workload| workload.name == BROKER);
    let rolling = async {
        for together in [brokers, others] {
            let rolled = together.into_iter().map(|workload| workload.roll(cluster));
            try_join_all(rolled).await?;
        }
        anyhow::Ok(())
    };
    let sent = beside_visitors(cluster, outside, "rolling restart", 10_000..90_000, rolling).await?;
    sent.all_accepted()
}

/// Sends forms until the work is done. Fails if an accepted form results in no mail.
async fn beside_visitors(
    cluster: &Arc<Cluster>,
    outside: &Outside,
    what: &str,
    visitors: Range<u32>,
    work: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<Sent> {
    let stop = CancellationToken::new();
    let working = async {
        work.await?;
        stop.cancel();
        anyhow::Ok(())
    };
    let (sent, ()) = tokio::try_join!(send_forms(cluster, visitors, stop.clone()), working)?;
    sent.all_mailed(&outside.mail_server).await?;
    println!(
        "{what}: {} forms accepted, none lost; {} rejected",
        sent.accepted.len(),
        sent.failed.len()
    );
    Ok(sent)
}

/// Skips jobs whose program this machine lacks.
async fn run_cron_jobs(cluster: &Arc<Cluster>) -> anyhow::Result<()> {
    let mut names = Vec::new();
    for cron_job in cluster.manifests.of_kind("CronJob") {
        let spec = &cron_job["spec"]["jobTemplate"]["spec"];
        if has_program(cluster, &spec["template"]) {
            run_job(cluster, cron_job, spec).await?;
            names.push(name_of(cron_job));
        }
    }
    println!("jobs: {} succeeded", names.join(", "));
    Ok(())
}
