//! A node is lost: one of the broker's servers, and a pod of each other workload, end without a word while forms come. No more may be
//! evicted until what was lost is there again.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use anyhow::Context as _;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    controllers::{BROKER, Workload},
    evictions,
    kubelet::Shared,
    outside::Outside,
    story::say,
    visitors::send_forms,
};

/// How long forms are sent before.
const BEFORE: Duration = Duration::from_secs(3);
/// For how long forms are sent from then on.
const LOST_NODE: Duration = Duration::from_secs(20);
/// How soon the broker's server must have caught up.
const CATCHING_UP: Duration = Duration::from_secs(60);
/// Between two evictions that are asked for.
const PAUSE: Duration = Duration::from_millis(200);
/// Where a server tells of its streams.
const STREAMS: &str = ":8222/jsz?accounts=true&streams=true";
/// By how many entries a replica may be behind that takes part: as many as are under way at once.
const UNDER_WAY: u64 = 10;

/// What became of the evictions.
struct Evictions {
    refused: usize,
    taken_after: Duration,
    /// How many streams have replicas, and how many of these a leader.
    streams: usize,
    led: usize,
}

/// Plays the scene.
///
/// # Errors
///
/// If a form is lost that was accepted, or an eviction is taken too early.
pub async fn play(shared: &Arc<Shared>, outside: &Outside, workloads: &mut [Workload]) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    let losing = async {
        sleep(BEFORE).await;
        let evictions = lose(shared, workloads).await?;
        stop.cancel();
        anyhow::Ok(evictions)
    };
    let (sent, evictions) = tokio::try_join!(send_forms(shared, 1_000..9_000, stop.clone()), losing)?;
    sent.all_mailed(outside).await?;
    say(&format!(
        "a node lost: {} forms accepted, {} not ({}), none lost; the slowest took {:.1} s",
        sent.accepted.len(),
        sent.failed.len(),
        sent.first_failures(),
        sent.slowest.as_secs_f64()
    ))?;
    say(&format!(
        "eviction: {} refused by disruption budgets meanwhile; one of the broker's servers would be taken after {:.1} s, when {} of {} streams had a leader again, and none of their replicas was behind",
        evictions.refused,
        evictions.taken_after.as_secs_f64(),
        evictions.led,
        evictions.streams
    ))
}

async fn lose(shared: &Arc<Shared>, workloads: &mut [Workload]) -> anyhow::Result<Evictions> {
    let mut refused = 0;
    // The broker last, so that its evictions are asked for from then on.
    workloads.sort_by_key(|workload| workload.name == BROKER);
    for workload in workloads.iter_mut() {
        let number = usize::from(workload.name == BROKER);
        workload.lose(shared, number).await?;
        refused += evictions::are_refused(shared, workload)?;
    }
    let broker = workloads.iter().find(|workload| workload.name == BROKER);
    let asking = timeout(CATCHING_UP, until_taken(shared, broker.context("no broker")?));
    let (asked, ()) = tokio::join!(asking, sleep(LOST_NODE));
    let mut evictions = asked.context("no eviction of the broker's servers is taken in time")??;
    evictions.refused += refused;
    for workload in workloads.iter_mut() {
        workload.ready().await?;
    }
    Ok(evictions)
}

/// Asks for an eviction of the broker's first server until it is taken: each server has all by then.
async fn until_taken(shared: &Shared, broker: &Workload) -> anyhow::Result<Evictions> {
    let begun = Instant::now();
    let server = broker.pods().first().context("a broker without servers")?.name();
    let mut refused = 0;
    while !evictions::is_taken(shared, server)? {
        refused += 1;
        sleep(PAUSE).await;
    }
    let taken_after = begun.elapsed();
    let (mut streams, mut led) = (BTreeSet::new(), BTreeSet::new());
    for server in broker.pods() {
        let server = server.name();
        for stream in replicated(shared, server).await? {
            let name = stream["name"].to_string();
            if stream["cluster"]["leader"] == server {
                ensure_nobody_is_behind(&stream)?;
                led.insert(name.clone());
            }
            streams.insert(name);
        }
    }
    anyhow::ensure!(!led.is_empty(), "no stream has replicas and a leader");
    Ok(Evictions {
        refused,
        taken_after,
        streams: streams.len(),
        led: led.len(),
    })
}

/// The streams with replicas that a server has, as it tells of them.
async fn replicated(shared: &Shared, server: &str) -> anyhow::Result<Vec<Value>> {
    let address = shared.network().address(server);
    let address = address.with_context(|| format!("there is no pod {server}"))?;
    let told = reqwest::get(format!("http://{address}{STREAMS}"))
        .await?
        .error_for_status()?;
    let told: Value = told.json().await?;
    let accounts = told["account_details"].as_array().into_iter().flatten();
    let streams = accounts.flat_map(|account| account["stream_detail"].as_array().into_iter().flatten());
    let replicated = streams.filter(|stream| stream["cluster"]["replicas"].is_array());
    Ok(replicated.cloned().collect())
}

/// As the leader of a stream sees its replicas, none is away or far behind.
fn ensure_nobody_is_behind(stream: &Value) -> anyhow::Result<()> {
    for replica in stream["cluster"]["replicas"].as_array().into_iter().flatten() {
        let is_there = replica["offline"] != true && replica["lag"].as_u64().unwrap_or(0) <= UNDER_WAY;
        anyhow::ensure!(
            is_there,
            "an eviction is taken while {} lacks {}",
            replica["name"],
            stream["name"]
        );
    }
    Ok(())
}
