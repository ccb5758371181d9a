//! Memory while mails with résumés hang, and the progress of other mails.

use site_events::{Channel, event::CareersApplied};
use testkit::{S3, ScriptedReply, eventually, measure};

use crate::running::{RECRUITERS, SOON, application, application_with, parts, process, scene, until};

const VISITOR: &str = "zoe@example.org";
/// The number of mails that a channel has in flight.
const APPLICATIONS: usize = 40;
const ATTACHMENTS: usize = 2;
const MAX_BYTES: u64 = 96_000_000;

pub async fn applied_with_resume(s3: &S3, bytes: usize) -> anyhow::Result<CareersApplied> {
    // Binary content, which the mail encodes in base64, like a PDF.
    let content: Vec<u8> = (0..=u8::MAX).rev().cycle().take(bytes).collect();
    application_with(s3, "cv.pdf", &content).await
}

#[tokio::test(flavor = "multi_thread")]
async fn many_hanging_resumes_take_bounded_memory() -> anyhow::Result<()> {
    const RESUME_BYTES: usize = 2_500_000;
    let s3 = S3::start().await?;
    let (nats, server, site) = parts(|to, _| match to {
        RECRUITERS => ScriptedReply::Hold,
        _ => ScriptedReply::Take,
    })
    .await?;
    let applied = applied_with_resume(&s3, RESUME_BYTES).await?;
    for _ in 0..APPLICATIONS {
        site.publish(VISITOR, applied.clone()).await?;
    }
    let logs = tempfile::TempDir::new()?;
    let notifier = process(&nats, server.port, &s3.flags(), logs.path())?;
    eventually("as many hang as may", 2 * SOON, async || {
        (server.counts().held == ATTACHMENTS).then_some(())
    })
    .await?;
    site.contact("asha@example.org").await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;

    server.release_held();
    site.until_acked(Channel::RecruiterApplication, 2 * SOON).await?;
    let mails = server.accepted(RECRUITERS);
    assert_eq!(mails.len(), APPLICATIONS);
    assert!(
        mails.iter().all(|mail| mail.len() > RESUME_BYTES),
        "one is not whole"
    );
    let peak = measure::resident_bytes(&notifier, "VmHWM")?;
    assert!(peak <= MAX_BYTES, "{} MB at peak", peak / 1_000_000);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_resumes_block_no_mail_without_one() -> anyhow::Result<()> {
    const RESUME_BYTES: usize = 5_000_000;
    const ROOM: usize = 2;
    const WAITING: usize = 6;
    let s3 = S3::start().await?;
    let (_nats, server, site, _notifier) = scene(&s3.flags(), |to, attempt| match to {
        RECRUITERS if attempt <= ROOM => ScriptedReply::HoldUnread,
        _ => ScriptedReply::Take,
    })
    .await?;
    let applied = applied_with_resume(&s3, RESUME_BYTES).await?;
    for _ in 0..ROOM + WAITING {
        site.publish(VISITOR, applied.clone()).await?;
    }
    until("the server does not read on", || server.counts().held == ROOM).await?;

    site.publish(VISITOR, application(VISITOR)?).await?;
    site.contact("asha@example.org").await?;
    until("the application without a résumé arrives", || {
        server.accepted(RECRUITERS).len() == 1
    })
    .await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    assert_eq!(
        (server.counts().held, server.attempts(RECRUITERS)),
        (ROOM, ROOM + 1)
    );

    server.release_held();
    site.until_acked(Channel::RecruiterApplication, SOON).await?;
    assert_eq!(server.accepted(RECRUITERS).len(), ROOM + WAITING + 1);
    Ok(())
}
