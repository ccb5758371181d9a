//! Applications during the drain.

use std::time::Duration;

use nix::sys::signal::Signal;
use site_proto::careers::v1::{ApplyRequest, careers_service_client::CareersServiceClient};
use site_service::drain::CancellationToken;
use tempfile::TempDir;
use testkit::{
    ChildProcess, Nats, S3, S3Fault, eventually,
    measure::{open_files, pdf},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::sleep,
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use uuid::Uuid;

use crate::{MEGABYTE, Running, commit, default_flags, fields, process, resume};

/// All but two seconds are for storing.
const GRACE: &str = "--grace-seconds=77";
const SOON: Duration = Duration::from_secs(45);

async fn site() -> anyhow::Result<(Running, ChildProcess, u16, TempDir)> {
    let (nats, s3, spool) = (Nats::start().await?, S3::start().await?, TempDir::new()?);
    let logs = TempDir::new()?;
    let port = TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port();
    let flags = default_flags(&nats, &s3, spool.path(), port);
    let flags = [flags, vec![GRACE.to_owned()]].concat();
    let careers = process(&flags, logs.path(), port).await?;
    let running = Running {
        careers: CareersServiceClient::connect(format!("http://127.0.0.1:{port}")).await?,
        nats,
        s3,
        spool,
        _stop: CancellationToken::new().drop_guard(),
    };
    Ok((running, careers, port, logs))
}

async fn arriving(
    running: &Running,
) -> anyhow::Result<(
    mpsc::Sender<ApplyRequest>,
    tokio::task::JoinHandle<Result<(), Status>>,
)> {
    let spool = running.spool.path();
    let before = open_files(spool).len();
    let (sender, receiver) = mpsc::channel(64);
    for part in [fields(), resume("cv.pdf", &pdf(MEGABYTE))].concat() {
        sender.send(ApplyRequest { part: Some(part) }).await?;
    }
    let mut careers = running.careers.clone();
    let answer = tokio::spawn(async move { careers.apply(ReceiverStream::new(receiver)).await.map(drop) });
    eventually("some of the résumé arrives", SOON, async || {
        (open_files(spool).len() > before).then_some(())
    })
    .await?;
    Ok((sender, answer))
}

async fn takes_no_more(port: u16) -> anyhow::Result<()> {
    eventually("no connection is taken", SOON, async || {
        TcpStream::connect(("127.0.0.1", port))
            .await
            .is_err()
            .then_some(())
    })
    .await
}

#[tokio::test]
async fn what_its_caller_does_not_wait_for_is_stored_before_the_process_ends() -> anyhow::Result<()> {
    let (running, careers, port, _logs) = site().await?;
    running.s3.fault(S3Fault::HoldAnswers);
    running.apply_until_stored().await?;
    careers.signal(Signal::SIGTERM)?;
    takes_no_more(port).await?;
    // A process that did not wait would be gone by then.
    sleep(Duration::from_secs(1)).await;
    running.s3.fault(S3Fault::None);
    assert!(careers.stop().await?.success());
    let (events, objects) = (running.nats.events().await?, running.s3.objects()?);
    assert_eq!((events.len(), objects.len()), (1, 1));
    assert_eq!(events[0]["data"]["resume"]["key"], objects[0].0.as_str());
    running.ensure_no_record_is_left().await?;
    Ok(())
}

#[tokio::test]
async fn what_arrives_soon_after_the_stop_is_stored_and_what_does_not_is_told_to_come_again()
-> anyhow::Result<()> {
    let (running, careers, port, _logs) = site().await?;
    let (quick, stored) = arriving(&running).await?;
    let (_slow, refused) = arriving(&running).await?;
    careers.signal(Signal::SIGTERM)?;
    takes_no_more(port).await?;
    for part in commit(Uuid::new_v4()) {
        quick.send(ApplyRequest { part: Some(part) }).await?;
    }
    stored.await??;
    let status = refused.await?.expect_err("it is not whole");
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    assert!(status.get_details_retry_info().is_some(), "{status:?}");
    assert!(careers.stop().await?.success());
    assert_eq!(
        (running.nats.events().await?.len(), running.s3.objects()?.len()),
        (1, 1)
    );
    Ok(())
}
