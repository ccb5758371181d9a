//! Memory while mails with résumés hang, and the progress of other mails.

use std::time::Duration;

use site_events::{Channel, event::CareersApplied};
use testkit::{MailFault, MailServer, Nats, S3, ScriptedReply, eventually, measure};

use crate::running::{RECRUITERS, Running, SOON, Site, application, application_with, process};

const VISITOR: &str = "zoe@example.org";
/// As many as a channel has in flight.
const APPLICATIONS: usize = 40;
const ATTACHMENTS: usize = 2;
const MAX_BYTES: u64 = 96_000_000;
/// Long enough that no more résumés are fetched.
const HANGING: Duration = Duration::from_secs(3);

pub async fn applied_with_resume(s3: &S3, bytes: usize) -> anyhow::Result<CareersApplied> {
    // Binary, so that the mail has it in base64, like a PDF.
    let content: Vec<u8> = (0..=u8::MAX).rev().cycle().take(bytes).collect();
    application_with(s3, "cv.pdf", &content).await
}

#[tokio::test(flavor = "multi_thread")]
async fn resumes_of_5_mb_that_queue_while_the_mail_server_hangs_take_little_memory() -> anyhow::Result<()> {
    const RESUME_BYTES: usize = 5_000_000;
    let queued = 12;
    let (nats, s3) = tokio::try_join!(Nats::start(), S3::start())?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    server.fault(MailFault::Each(ScriptedReply::Hang));
    let site = Site::on(&nats).await?;
    let applied = applied_with_resume(&s3, RESUME_BYTES).await?;
    for _ in 0..queued {
        site.publish(VISITOR, applied.clone()).await?;
    }
    let logs = tempfile::TempDir::new()?;
    let notifier = process(&nats, server.port, &s3.flags(), logs.path())?;
    eventually("as many hang as there is room for", SOON, async || {
        (server.counts().begun > 2).then_some(())
    })
    .await?;
    tokio::time::sleep(HANGING).await;
    let hanging = measure::resident_bytes(&notifier, "VmHWM")?;
    server.fault(MailFault::None);
    site.until_acked(Channel::RecruiterApplication, 10 * SOON).await?;
    let peak = measure::resident_bytes(&notifier, "VmHWM")?;
    eprintln!(
        "{} MB while they hang, {} MB at peak",
        hanging / 1_000_000,
        peak / 1_000_000
    );
    assert!(server.accepted_mails().len() >= queued);
    assert!(peak <= MAX_BYTES, "{} MB at peak", peak / 1_000_000);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn many_resumes_that_hang_take_little_memory_and_arrive_in_the_end() -> anyhow::Result<()> {
    const RESUME_BYTES: usize = 2_500_000;
    let (nats, s3) = tokio::try_join!(Nats::start(), S3::start())?;
    let server = MailServer::start(|to, _| match to {
        RECRUITERS => ScriptedReply::Hold,
        _ => ScriptedReply::Take,
    })
    .await?;
    let site = Site::on(&nats).await?;
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
async fn resumes_that_the_mail_server_does_not_read_hold_up_no_mail_without_one() -> anyhow::Result<()> {
    const RESUME_BYTES: usize = 5_000_000;
    const ROOM: usize = 2;
    const WAITING: usize = 6;
    let (nats, s3) = tokio::try_join!(Nats::start(), S3::start())?;
    let server = MailServer::start(|to, attempt| {
        if to == RECRUITERS && attempt <= ROOM {
            ScriptedReply::HoldUnread
        } else {
            ScriptedReply::Take
        }
    })
    .await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &s3.flags()).await?;
    let applied = applied_with_resume(&s3, RESUME_BYTES).await?;
    for _ in 0..ROOM + WAITING {
        site.publish(VISITOR, applied.clone()).await?;
    }
    eventually("the server does not read on", SOON, async || {
        (server.counts().held == ROOM).then_some(())
    })
    .await?;

    site.publish(VISITOR, application(VISITOR)?).await?;
    site.contact("asha@example.org").await?;
    eventually("the application without a résumé arrives", SOON, async || {
        (server.accepted(RECRUITERS).len() == 1).then_some(())
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
