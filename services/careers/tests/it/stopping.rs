//! Applications during the drain.

use std::time::Duration;

use nix::sys::signal::Signal;
use site_proto::careers::v1::ApplyRequest;
use testkit::{
    S3Fault, eventually,
    measure::{open_files, pdf},
};
use tokio::{net::TcpStream, sync::mpsc, task::JoinHandle, time::sleep};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use uuid::Uuid;

use crate::{MEGABYTE, Running, SOON, commit, resume, running_process};

/// Grace period: two seconds for receiving, then 75 seconds that are reserved for storing.
const GRACE: &str = "--grace-seconds=77";

type Arriving = (mpsc::Sender<ApplyRequest>, JoinHandle<Result<(), Status>>);

async fn arriving(running: &Running) -> anyhow::Result<Arriving> {
    let spool = running.spool.path();
    let before = open_files(spool).len();
    let (sender, receiver) = mpsc::channel(64);
    for part in resume("cv.pdf", &pdf(MEGABYTE)) {
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
        TcpStream::connect(("127.0.0.1", port)).await.err().map(drop)
    })
    .await
}

#[tokio::test]
async fn a_stopping_process_stores_abandoned_applications() -> anyhow::Result<()> {
    let (running, process) = running_process(&[GRACE]).await?;
    running.s3.fault(S3Fault::HoldAnswers);
    running.apply_until_stored().await?;
    process.careers.signal(Signal::SIGTERM)?;
    takes_no_more(process.port).await?;
    // A process that did not wait for the store would exit within this second.
    sleep(Duration::from_secs(1)).await;
    running.s3.fault(S3Fault::None);
    assert!(process.careers.stop().await?.success());
    let (events, objects) = (running.nats.events().await?, running.s3.objects()?);
    assert_eq!((events.len(), objects.len()), (1, 1));
    assert_eq!(events[0]["data"]["resume"]["key"], objects[0].0.as_str());
    running.ensure_no_record_is_left().await
}

#[tokio::test]
async fn uploads_that_end_soon_after_a_stop_are_stored() -> anyhow::Result<()> {
    let (running, process) = running_process(&[GRACE]).await?;
    let (quick, stored) = arriving(&running).await?;
    let (_slow, refused) = arriving(&running).await?;
    process.careers.signal(Signal::SIGTERM)?;
    takes_no_more(process.port).await?;
    for part in commit(Uuid::new_v4()) {
        quick.send(ApplyRequest { part: Some(part) }).await?;
    }
    stored.await??;
    let status = refused.await?.expect_err("it is not whole");
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    assert!(status.get_details_retry_info().is_some(), "{status:?}");
    assert!(process.careers.stop().await?.success());
    let (events, objects) = (running.nats.events().await?, running.s3.objects()?);
    assert_eq!((events.len(), objects.len()), (1, 1));
    Ok(())
}
