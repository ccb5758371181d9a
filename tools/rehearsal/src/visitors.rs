//! Visitors that send forms through a pod in place of the ingress Gateway.

use std::{sync::Arc, time::Duration};

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

/// Sends forms while the work is done, and waits for a mail of each accepted form. Returns the others' errors.
///
/// # Errors
///
/// If the work fails, no form was accepted, or a visitor has no mail.
pub async fn send_during(
    cluster: &Arc<Cluster>,
    mail_server: &MailServer,
    scene: &str,
    first: u32,
    work: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<Vec<String>> {
    let stop = CancellationToken::new();
    let (cluster, stopped) = (cluster.clone(), stop.clone());
    let sending = async move { within(FRONT_DOOR, move || send(cluster, first, stopped)).await? };
    let working = async {
        work.await?;
        stop.cancel();
        anyhow::Ok(())
    };
    let ((accepted, failed), ()) = tokio::try_join!(sending, working)?;
    anyhow::ensure!(!accepted.is_empty(), "no form was accepted: {failed:?}");
    eventually("every visitor has a mail", MAILS, async || {
        let mails = mail_server.accepted_mails();
        let has_mail = |form: &Submission| {
            let email = form.email();
            mails.iter().any(|mail| mail.recipient == email)
        };
        accepted.iter().all(has_mail).then_some(())
    })
    .await?;
    println!(
        "{scene}: {} forms accepted, none lost; {} rejected",
        accepted.len(),
        failed.len()
    );
    Ok(failed)
}

/// Sends forms until stopped, each over its own connection. Returns the accepted and the failed ones.
async fn send(
    cluster: Arc<Cluster>,
    first: u32,
    stop: CancellationToken,
) -> anyhow::Result<(Vec<Submission>, Vec<String>)> {
    let http = Client::builder().pool_max_idle_per_host(0);
    let http = http.timeout(ANSWER_TIMEOUT).build()?;
    let mut under_way = JoinSet::new();
    for number in first.. {
        if stop.is_cancelled() {
            break;
        }
        let kind = FormKind::ALL[number as usize % FormKind::ALL.len()];
        let form = Submission::new(1, number, kind, RESUME_BYTES);
        let request = form.request(&http, &gateway(&cluster, number)?);
        under_way.spawn(async move {
            let answer = request.send().await.and_then(|answer| answer.error_for_status());
            (form, answer)
        });
        sleep(PAUSE).await;
    }
    let (mut accepted, mut failed) = (Vec::new(), Vec::new());
    while let Some(done) = under_way.join_next().await {
        match done? {
            (form, Ok(_)) => accepted.push(form),
            (form, Err(error)) => failed.push(format!("{form:?}: {error:?}")),
        }
    }
    Ok((accepted, failed))
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
