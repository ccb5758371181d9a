//! The scenes of a rehearsal, in order.

use std::{fs, ops::Range, sync::Arc, time::Duration};

use age::secrecy::ExposeSecret as _;
use anyhow::Context as _;
use futures_util::future::try_join_all;
use testkit::eventually;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    certificates::Issuers,
    clear_text,
    controllers::{BROKER, Workload, job_of, run_job},
    kubelet::{Ended, Shared},
    lost_node,
    manifests::name_of,
    outside::Outside,
    pages::{self, Fetched},
    pods::logged,
    reach,
    secrets::SecretStore,
    story::say,
    visitors::{Sent, send_forms},
    volumes,
};

/// How soon renewed certificates must be read by the broker, which looks every ten seconds.
const RENEWAL: Duration = Duration::from_secs(30);
/// For how long visitors come after that, when who connects meets the new ones.
const WITH_RENEWED: Duration = Duration::from_secs(4);

/// Where passwords at the broker lie in the store, and of whom.
const PASSWORDS: &str = "site/nats";
const USERS: [&str; 6] = [
    "contact",
    "newsletter",
    "careers",
    "notifier",
    "operator",
    "backup",
];

/// Plays all scenes.
///
/// # Errors
///
/// If one does not go as it must.
pub async fn play(
    shared: &Arc<Shared>,
    outside: &Outside,
    secrets: &mut SecretStore,
    issuers: &mut Issuers,
    is_short: bool,
) -> anyhow::Result<()> {
    let mut workloads = start(shared).await?;
    let played = async {
        forms(shared, outside, 8..11).await?;
        closed(shared).await?;
        no_clear_text(shared).await?;
        renew_certificates(shared, outside, issuers, &workloads).await?;
        if !is_short {
            lost_node::play(shared, outside, &mut workloads).await?;
            rotate_passwords(shared, secrets)?;
            let (mut broker, mut others): (Vec<_>, Vec<_>) =
                workloads.iter_mut().partition(|workload| workload.name == BROKER);
            roll(
                shared,
                outside,
                "restart of the broker with new passwords",
                10_000..50_000,
                &mut broker,
            )
            .await?;
            roll(
                shared,
                outside,
                "restart of everything else",
                50_000..90_000,
                &mut others,
            )
            .await?;
        }
        // Last, so that the backup has all that the restore must bring back, and the jobs log in with passwords that were rotated.
        cron_jobs(shared).await?;
        restore(shared, outside, &mut workloads).await?;
        anyhow::Ok(())
    };
    let played = played.await;
    try_join_all(workloads.into_iter().map(Workload::delete)).await?;
    played
}

/// All who log in at the broker get another password, and find it in their files: the broker has it from its restart on
/// (docs/operations.md, "Rotate secrets").
fn rotate_passwords(shared: &Shared, secrets: &mut SecretStore) -> anyhow::Result<()> {
    for user in USERS {
        secrets.rotate(PASSWORDS, user);
    }
    let former = shared.manifests.secret(BROKER)?;
    shared.manifests.fill_secrets(secrets);
    anyhow::ensure!(former != shared.manifests.secret(BROKER)?, "no secret changed");
    write_secrets(shared)
}

/// What the secrets hold now comes to all pods that run.
fn write_secrets(shared: &Shared) -> anyhow::Result<()> {
    for (_, endpoint) in shared.network().endpoints() {
        volumes::write_secrets(&shared.node.folder, &shared.manifests, &endpoint.pod)?;
    }
    Ok(())
}

/// Everything is applied at once, and comes up by itself.
async fn start(shared: &Arc<Shared>) -> anyhow::Result<Vec<Workload>> {
    let begun = Instant::now();
    let mut workloads = Vec::new();
    for set in &shared.manifests.stateful_sets {
        workloads.extend(Workload::of_stateful_set(shared, set)?);
    }
    for deployment in &shared.manifests.deployments {
        workloads.extend(Workload::of_deployment(shared, deployment)?);
    }
    let jobs = shared.manifests.jobs.iter().map(|job| run_job(shared, job));
    let ready = workloads.iter_mut().map(Workload::ready);
    let (attempts, _) = tokio::try_join!(try_join_all(jobs), try_join_all(ready))?;
    let pods = workloads.iter().flat_map(Workload::pods);
    let restarts: u32 = pods.clone().map(|pod| pod.state().restarts).sum();
    say(&format!(
        "\nstarted: {} pods ready after {:.0} s; containers started again {restarts} times, jobs took {attempts:?} pods",
        pods.count(),
        begun.elapsed().as_secs_f64(),
    ))?;
    Ok(workloads)
}

/// The three forms through the front door, and their mails.
async fn forms(shared: &Shared, outside: &Outside, visitors: Range<u32>) -> anyhow::Result<()> {
    let sent = send_forms(shared, visitors, CancellationToken::new()).await?;
    sent.all_accepted("three forms")?;
    sent.all_mailed(outside).await?;
    say("forms: a sign-up, a message and an application accepted, and their mails read")
}

/// Each cron job runs once: with the operator's password, which the broker must know.
async fn cron_jobs(shared: &Arc<Shared>) -> anyhow::Result<()> {
    let mut names = Vec::new();
    for (number, cron_job) in shared.manifests.cron_jobs.iter().enumerate() {
        if let Some(job) = job_of(shared, cron_job, number) {
            let pods = run_job(shared, &job).await?;
            let name = name_of(&cron_job.metadata);
            anyhow::ensure!(pods == 1, "{name} succeeded with its pod number {pods}");
            names.push(name);
        }
    }
    say(&format!("jobs: {} ran, each with one pod", names.join(", ")))
}

/// Brings the last backup back into an emptied broker and an emptied bucket (docs/operations.md, "Restore"), and starts the site on
/// it. The restore itself compares what is there afterwards with what was backed up.
async fn restore(
    shared: &Arc<Shared>,
    outside: &Outside,
    workloads: &mut Vec<Workload>,
) -> anyhow::Result<()> {
    let begun = Instant::now();
    try_join_all(workloads.drain(..).map(Workload::delete)).await?;
    let resumes = outside.store.objects()?;
    outside.store.remove_leftovers()?;
    for number in 0..3 {
        fs::remove_dir_all(shared.node.folder.join(format!("volumes/data-nats-{number}")))?;
    }
    let secret = outside.identity.to_string();
    let identity = [("identity".to_owned(), secret.expose_secret().to_owned())];
    shared.manifests.put_secret("backup-identity", identity);
    let sets = &shared.manifests.stateful_sets;
    let broker = sets.iter().find(|set| name_of(&set.metadata) == BROKER);
    let broker = Workload::of_stateful_set(shared, broker.context("no broker")?)?;
    let mut broker = broker.context("no program for the broker")?;
    broker.ready().await?;
    run_job(shared, &shared.restore).await?;
    broker.delete().await?;
    anyhow::ensure!(outside.store.objects()? == resumes, "other objects came back");
    let restored = begun.elapsed();
    *workloads = start(shared).await?;
    forms(shared, outside, 11..14).await?;
    say(&format!(
        "restore: an emptied broker and an emptied bucket have what the backup had, {} résumés among it, after {:.0} s; the site goes on",
        resumes.len(),
        restored.as_secs_f64()
    ))
}

/// Every flow that is not written down is tried, and closed.
async fn closed(shared: &Shared) -> anyhow::Result<()> {
    let tried = reach::try_all(shared).await?;
    let too_open: Vec<_> = tried.open.difference(&tried.allowed).collect();
    let too_closed: Vec<_> = tried.allowed.intersection(&tried.closed).collect();
    anyhow::ensure!(too_open.is_empty(), "open, and not written down: {too_open:?}");
    anyhow::ensure!(too_closed.is_empty(), "written down, and closed: {too_closed:?}");
    let is_tried = |flow| tried.open.contains(flow) || tried.closed.contains(flow);
    let untried: Vec<_> = tried.allowed.iter().filter(|flow| !is_tried(*flow)).collect();
    if !untried.is_empty() {
        say(&format!("flows written down, and not tried: {untried:?}"))?;
    }
    say(&format!(
        "flows: {} tried between pods and {} to the outside, {} kinds open as written down, {} refused",
        tried.connections - tried.to_outside,
        tried.to_outside,
        tried.open.len(),
        tried.refused
    ))
}

/// Whoever has no certificate is refused by the services and by the broker, where the network lets them through.
async fn no_clear_text(shared: &Shared) -> anyhow::Result<()> {
    let refused = clear_text::refused(shared).await?;
    say(&format!(
        "clear text: {refused} servers refused who spoke without TLS"
    ))
}

/// All certificates are renewed while forms come: nothing restarts, and the broker's servers read theirs again.
async fn renew_certificates(
    shared: &Shared,
    outside: &Outside,
    issuers: &mut Issuers,
    workloads: &[Workload],
) -> anyhow::Result<()> {
    let restarts = || -> u32 {
        let pods = workloads.iter().flat_map(Workload::pods);
        pods.map(|pod| pod.state().restarts).sum()
    };
    let before = restarts();
    let renewing = async {
        shared.manifests.issue_certificates(issuers)?;
        write_secrets(shared)?;
        for server in workloads
            .iter()
            .filter(|workload| workload.name == BROKER)
            .flat_map(Workload::pods)
        {
            let what = format!("{} reads its certificates again", server.name());
            eventually(&what, RENEWAL, async || {
                logged(&shared.node, server.name())
                    .ok()?
                    .contains("Reloaded server configuration")
                    .then_some(())
            })
            .await?;
        }
        sleep(WITH_RENEWED).await;
        anyhow::Ok(())
    };
    let what = "while certificates are renewed";
    let (sent, fetched, ()) = beside_visitors(shared, outside, what, 100..900, renewing).await?;
    anyhow::ensure!(restarts() == before, "something restarted");
    say(&format!(
        "certificates renewed: {} forms accepted and {} sent meanwhile, 0 failed, 0 lost; nothing restarted",
        sent.accepted.len(),
        fetched.in_words()
    ))
}

/// Has visitors send forms and ask for pages until this is done: each form must be accepted and mailed, each page come.
async fn beside_visitors<T>(
    shared: &Shared,
    outside: &Outside,
    what: &str,
    visitors: Range<u32>,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<(Sent, Fetched, T)> {
    let stop = CancellationToken::new();
    let working = async {
        let done = work.await?;
        stop.cancel();
        anyhow::Ok(done)
    };
    let (sent, fetched, done) = tokio::try_join!(
        send_forms(shared, visitors, stop.clone()),
        pages::fetch(shared, stop.clone()),
        working
    )?;
    sent.all_accepted(what)?;
    fetched.all_came(what)?;
    sent.all_mailed(outside).await?;
    Ok((sent, fetched, done))
}

/// These are restarted, one pod after another within each workload, while forms come.
async fn roll(
    shared: &Arc<Shared>,
    outside: &Outside,
    what: &str,
    visitors: Range<u32>,
    workloads: &mut [&mut Workload],
) -> anyhow::Result<()> {
    let begun = Instant::now();
    let rolling = try_join_all(workloads.iter_mut().map(|workload| workload.roll(shared)));
    let (sent, fetched, ended) = beside_visitors(shared, outside, what, visitors, rolling).await?;
    let ended = ended.concat();
    let killed: Vec<_> = ended
        .iter()
        .filter(|(_, ended)| *ended != Ended::InTime)
        .collect();
    anyhow::ensure!(killed.is_empty(), "did not end in time: {killed:?}");
    say(&format!(
        "{what}: {} pods replaced in {:.0} s, {} forms accepted and {} sent, 0 failed, 0 lost; the slowest form took {:.1} s",
        ended.len(),
        begun.elapsed().as_secs_f64(),
        sent.accepted.len(),
        fetched.in_words(),
        sent.slowest.as_secs_f64()
    ))
}
