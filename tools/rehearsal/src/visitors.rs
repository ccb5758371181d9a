//! Visitors, who come in by the route that the manifests name.

use std::{collections::BTreeSet, net::Ipv4Addr, sync::Arc, time::Duration};

use anyhow::Context as _;
use reliability::{FormKind, Submission};
use reqwest::Client;
use testkit::eventually;
use tokio::{
    sync::Mutex,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::{kubelet::Shared, manifests::RouteRule, outside::Outside, within::within};

/// How soon a mail must be there after its form was accepted: one that a lost notifier was sending comes to another after a minute, and
/// is sent after a second one where the first one may still be at it.
const MAILS: Duration = Duration::from_secs(150);
/// The pod that stands for the Gateway's.
pub const FRONT_DOOR: &str = "front-door";
/// Between two forms of the load: below the rate at which a gateway that gets all of them asks for work (`FLOOD_PER_MINUTE`).
const PAUSE: Duration = Duration::from_millis(600);
/// How many forms that failed are named.
const TOLD_FAILURES: usize = 10;
const RESUME_BYTES: usize = 100_000;
/// Each so manyth form of the load is an application; of the others each second is a sign-up.
const APPLICATION_EVERY: u32 = 10;

/// What became of the forms that were sent.
#[derive(Default)]
pub struct Sent {
    pub accepted: Vec<Submission>,
    /// Why each was not taken that was not.
    pub failed: Vec<String>,
    pub slowest: Duration,
}

impl Sent {
    /// Why the first were not taken, in one line.
    pub fn first_failures(&self) -> String {
        self.failed[..self.failed.len().min(TOLD_FAILURES)].join("; ")
    }

    /// Fails where one was not taken, or none was sent.
    ///
    /// # Errors
    ///
    /// With the forms that were not taken.
    pub fn all_accepted(&self, what: &str) -> anyhow::Result<()> {
        let (accepted, failed) = (self.accepted.len(), self.failed.len());
        anyhow::ensure!(
            failed == 0 && accepted > 0,
            "{what}: {accepted} accepted, {failed} not: {}",
            self.first_failures()
        );
        Ok(())
    }

    /// Waits until each visitor whose form was accepted has a mail.
    ///
    /// # Errors
    ///
    /// If one has none in time.
    pub async fn all_mailed(&self, outside: &Outside) -> anyhow::Result<()> {
        let told = eventually("every visitor has a mail", MAILS, async || {
            let mails = outside.mail_server.accepted_mails();
            let recipients: BTreeSet<&str> = mails.iter().map(|mail| mail.recipient.as_str()).collect();
            let mut accepted = self.accepted.iter();
            accepted
                .all(|form| recipients.contains(form.email().as_str()))
                .then_some(())
        });
        told.await
    }
}

/// Where the route leads a path.
///
/// # Errors
///
/// If no route leads there, or to a service without an address.
pub fn backend(shared: &Shared, path: &str) -> anyhow::Result<(Ipv4Addr, u16)> {
    let rules = shared.manifests.routes.iter().flat_map(|route| &route.spec.rules);
    let length = |rule: &RouteRule| {
        let paths = rule.matches.iter().filter_map(|rule| rule.path.as_ref());
        let matching =
            paths.filter(|matched| matched.kind == "PathPrefix" && path.starts_with(&matched.value));
        matching.map(|matched| matched.value.len()).max()
    };
    let longest = rules
        .filter_map(|rule| Some((length(rule)?, rule)))
        .max_by_key(|(length, _)| *length);
    let (_, rule) = longest.with_context(|| format!("no route leads to {path}"))?;
    let backend = rule.backend_refs.first().context("a rule without a backend")?;
    let address = shared.network().service_address(&backend.name);
    Ok((
        address.with_context(|| format!("service {} has no address", backend.name))?,
        backend.port,
    ))
}

/// Sends forms until it is told to stop, each over a connection of its own.
///
/// # Errors
///
/// If the front door's network cannot be entered. What becomes of each form is no error.
pub async fn send_forms(
    shared: &Shared,
    numbers: std::ops::Range<u32>,
    stop: CancellationToken,
) -> anyhow::Result<Sent> {
    let (address, port) = backend(shared, "/api/contact")?;
    let site = format!("http://{address}:{port}");
    within(FRONT_DOOR, move || send(site, numbers, stop)).await?
}

async fn send(site: String, numbers: std::ops::Range<u32>, stop: CancellationToken) -> anyhow::Result<Sent> {
    let http = Client::builder()
        .pool_max_idle_per_host(0)
        .timeout(Duration::from_secs(15))
        .build()?;
    let sent = Arc::new(Mutex::new(Sent::default()));
    let mut under_way = tokio::task::JoinSet::new();
    for number in numbers {
        if stop.is_cancelled() {
            break;
        }
        let kind = match number {
            number if number % APPLICATION_EVERY == 0 => FormKind::Application,
            number if number % 2 == 0 => FormKind::Newsletter,
            _ => FormKind::Contact,
        };
        let form = Submission::new(1, number, kind, RESUME_BYTES);
        let (http, site, sent) = (http.clone(), site.clone(), sent.clone());
        under_way.spawn(async move {
            let begun = Instant::now();
            let request = form
                .request(&http, &site)
                .header("x-forwarded-for", address(number).to_string());
            let answer = request.send().await;
            let mut sent = sent.lock().await;
            sent.slowest = sent.slowest.max(begun.elapsed());
            match answer {
                Ok(answer) if answer.status().is_success() => sent.accepted.push(form),
                Ok(answer) => sent
                    .failed
                    .push(format!("{kind:?} {number}: {}", answer.status())),
                Err(error) => sent.failed.push(format!("{kind:?} {number}: {error:?}")),
            }
        });
        sleep(PAUSE).await;
    }
    while under_way.join_next().await.is_some() {}
    Ok(std::mem::take(&mut *sent.lock().await))
}

/// The address that the Gateway adds, each visitor's in a network of its own.
fn address(number: u32) -> Ipv4Addr {
    let [.., low, high] = number.to_be_bytes();
    Ipv4Addr::new(11, high, low, 1)
}
