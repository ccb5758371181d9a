//! Scenes of a rehearsal, in order.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use futures_util::future::try_join_all;
use testkit::MailServer;
use tokio::time::sleep;

use crate::{
    cluster::Cluster,
    manifests::name_of,
    reach,
    visitors::send_during,
    workloads::{Workload, has_program, run_job},
};

const BROKER: &str = "nats";
/// Time for a form of each kind.
const FEW_FORMS: Duration = Duration::from_secs(3);
const AFTER_LOSS: Duration = Duration::from_secs(20);

pub async fn play(cluster: &Arc<Cluster>, mail_server: &MailServer) -> anyhow::Result<()> {
    let mut workloads = start(cluster).await?;
    let waiting = async {
        sleep(FEW_FORMS).await;
        anyhow::Ok(())
    };
    let failed = send_during(cluster, mail_server, "forms", 1, waiting).await?;
    anyhow::ensure!(failed.is_empty(), "not accepted: {failed:?}");
    let flows = reach::check(cluster).await?;
    println!("flows: {flows}");
    let losing = lose_a_broker(&mut workloads);
    // A form can fail here, but its visitor gets an error.
    send_during(cluster, mail_server, "a broker lost", 1_000, losing).await?;
    let rolling = restart(&mut workloads);
    let failed = send_during(cluster, mail_server, "rolling restart", 10_000, rolling).await?;
    anyhow::ensure!(failed.is_empty(), "not accepted: {failed:?}");
    run_cron_jobs(cluster).await?;
    // Fails if a pod failed in the meantime.
    try_join_all(workloads.iter_mut().map(Workload::ready))
        .await
        .map(drop)
}

/// Starts stateful sets, then deployments. The job `setup` runs after each of these steps.
async fn start(cluster: &Arc<Cluster>) -> anyhow::Result<Vec<Workload>> {
    let manifests = &cluster.manifests;
    let mut workloads = Vec::new();
    for kind in ["StatefulSet", "Deployment"] {
        let objects = manifests.of_kind(kind).filter(|object| has_program(object));
        let started = objects.map(|object| Workload::start(cluster, object));
        let mut started = started.collect::<anyhow::Result<Vec<_>>>()?;
        try_join_all(started.iter_mut().map(Workload::ready)).await?;
        workloads.extend(started);
        // The job's second run changes nothing.
        for job in manifests.of_kind("Job") {
            run_job(cluster, job).await?;
        }
    }
    let names: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
    println!("started: {}", names.join(", "));
    Ok(workloads)
}

async fn lose_a_broker(workloads: &mut [Workload]) -> anyhow::Result<()> {
    let mut workloads = workloads.iter_mut();
    let broker = workloads.find(|workload| workload.name == BROKER);
    let broker = broker.context("no broker")?;
    sleep(FEW_FORMS).await;
    broker.lose(1)?;
    sleep(AFTER_LOSS).await;
    broker.ready().await
}

/// Restarts the broker's servers in turn, then everything else.
async fn restart(workloads: &mut [Workload]) -> anyhow::Result<()> {
    let (brokers, others): (Vec<_>, Vec<_>) =
        workloads.iter_mut().partition(|workload| workload.name == BROKER);
    for together in [brokers, others] {
        try_join_all(together.into_iter().map(Workload::roll)).await?;
    }
    Ok(())
}

/// Runs each job once whose program the rehearsal has.
async fn run_cron_jobs(cluster: &Arc<Cluster>) -> anyhow::Result<()> {
    let jobs = cluster.manifests.of_kind("CronJob");
    let mut names = Vec::new();
    for job in jobs.filter(|job| has_program(job)) {
        run_job(cluster, job).await?;
        names.push(name_of(job));
    }
    println!("jobs: {} succeeded", names.join(", "));
    Ok(())
}
