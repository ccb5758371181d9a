//! Visitors that send forms through a pod in place of the ingress Gateway.

use std::{collections::BTreeSet, net::Ipv4Addr, ops::Range, sync::Arc, time::Duration};

use anyhow::Context as _;
use reliability::{FormKind, Submission};
use reqwest::Client;
use testkit::{MailServer, eventually};
use tokio::{task::JoinSet, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, within};

/// The ingress policy allows this namespace by its label.
pub const GATEWAYS: &str = "gateways";
pub const FRONT_DOOR: &str = "front-door";

/// Timeout of mails. If a notifier is lost, another one sends its mails a minute later.
const MAILS: Duration = Duration::from_secs(150);
/// Above 120 forms a minute, a gateway demands a proof of work.
const PAUSE: Duration = Duration::from_millis(600);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
const RESUME_BYTES: usize = 100_000;

#[derive(Default)]
pub struct Sent {
    pub accepted: Vec<Submission>,
    pub failed: Vec<String>,
}

impl Sent {
    /// # Errors
    ///
    /// If a form was not accepted, or none was sent.
    pub fn all_accepted(&self) -> anyhow::Result<()> {
        let failed = &self.failed;
        anyhow::ensure!(
            failed.is_empty() && !self.accepted.is_empty(),
            "not accepted: {failed:?}"
        );
        Ok(())
    }

    /// Waits until each visitor of an accepted form has a mail.
    pub async fn all_mailed(&self, mail_server: &MailServer) -> anyhow::Result<()> {
        eventually("every visitor has a mail", MAILS, async || {
            let mails = mail_server.accepted_mails();
            let recipients: BTreeSet<&str> = mails.iter().map(|mail| mail.recipient.as_str()).collect();
            let mut accepted = self.accepted.iter();
            accepted
                .all(|form| recipients.contains(form.email().as_str()))
                .then_some(())
        })
        .await
    }
}

/// Sends forms until stopped, each over its own connection.
///
/// # Errors
///
/// If the front door's network cannot be entered. [`Sent`] has the failed forms.
pub async fn send_forms(
    cluster: &Arc<Cluster>,
    numbers: Range<u32>,
    stop: CancellationToken,
) -> anyhow::Result<Sent> {
    let cluster = cluster.clone();
    within(FRONT_DOOR, move || send(cluster, numbers, stop)).await?
}

async fn send(cluster: Arc<Cluster>, numbers: Range<u32>, stop: CancellationToken) -> anyhow::Result<Sent> {
    let http = Client::builder().pool_max_idle_per_host(0);
    let http = http.timeout(ANSWER_TIMEOUT).build()?;
    let mut under_way = JoinSet::new();
    for number in numbers {
        if stop.is_cancelled() {
            break;
        }
        let kind = FormKind::ALL[number as usize % FormKind::ALL.len()];
        let form = Submission::new(1, number, kind, RESUME_BYTES);
        let request = form.request(&http, &gateway(&cluster, number)?);
        let request = request.header("x-forwarded-for", address(number).to_string());
        under_way.spawn(async move {
            let answer = request.send().await.and_then(|answer| answer.error_for_status());
            (form, answer)
        });
        sleep(PAUSE).await;
    }
    let mut sent = Sent::default();
    while let Some(done) = under_way.join_next().await {
        let (form, answer) = done?;
        match answer {
            Ok(_) => sent.accepted.push(form),
            Err(error) => sent
                .failed
                .push(format!("{:?} {}: {error:?}", form.kind, form.number)),
        }
    }
    Ok(sent)
}

/// Address of a ready pod: ingress Gateways bypass the service's address, too.
fn gateway(cluster: &Cluster, number: u32) -> anyhow::Result<String> {
    let network = cluster.network();
    let ready = network.ready("gateway");
    let mut turns = ready.iter().cycle().skip(number as usize);
    let gateway = turns.next().context("no gateway is ready")?;
    let port = gateway.pod.port(&"http".into()).context("it has no port")?;
    Ok(format!("http://{}:{port}", gateway.address))
}

fn address(number: u32) -> Ipv4Addr {
    let [.., low, high] = number.to_be_bytes();
    Ipv4Addr::new(11, high, low, 1)
}
