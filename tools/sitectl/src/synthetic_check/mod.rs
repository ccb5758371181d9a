//! `sitectl synthetic-check`: sends a marked form as a visitor does, waits for its mail, and tries an upload.

mod form;
mod mailbox;

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Args;
use serde_json::json;
use site_events::Channel;
use site_service::{RequestId, settings::seconds};
use time::OffsetDateTime;
use tokio::time::{sleep, timeout};
use visitor::{EmailAddress, SyntheticKey, links::site_url};

use self::mailbox::{Mailbox, MailboxSettings};
use crate::output::print_output;

/// Tolerates minutes of clock skew.
const MARK_LIFETIME: time::Duration = time::Duration::minutes(10);
const FORM_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The site and the check's inbox.
#[derive(Args, Debug)]
pub struct SyntheticCheckArgs {
    /// Address of the site, as visitors reach it
    #[arg(long, env = "SITE_URL", value_parser = site_url)]
    site_url: String,
    /// Key that signs the mark, at least 32 bytes, the same as the contact service's
    #[arg(long, env = "SYNTHETIC_KEY", hide_env_values = true, value_parser = SyntheticKey::new)]
    synthetic_key: SyntheticKey,
    /// Address of the form's sender; the only recipient of its mail
    #[arg(long, env = "SYNTHETIC_EMAIL", value_parser = EmailAddress::parse)]
    synthetic_email: EmailAddress,
    #[command(flatten)]
    mailbox: MailboxSettings,
    /// Seconds within which the mail must arrive
    #[arg(long, default_value = "180", value_parser = seconds(1..=3600))]
    synthetic_seconds: Duration,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// # Errors
///
/// If the inbox cannot be read, the site rejects the form, its mail is late, or the proxy refuses uploads.
pub async fn synthetic_check(args: &SyntheticCheckArgs) -> anyhow::Result<()> {
    // Comes first, so that a failed login sends no form.
    let mut mailbox = Mailbox::open(&args.mailbox).await?;
    let now = OffsetDateTime::now_utc();
    let email = &args.synthetic_email;
    let mark = args.synthetic_key.mark(email, now + MARK_LIFETIME);
    let started = Instant::now();
    let sent = timeout(FORM_TIMEOUT, form::send(&args.site_url, email, &mark)).await;
    let sent = sent.context("no answer in time").flatten();
    let request_id = sent.context("The site did not accept the form")?;
    let accepted = started.elapsed();
    let arrived = timeout(args.synthetic_seconds, arrival(&mut mailbox, &request_id)).await;
    arrived.with_context(|| {
        let within = args.synthetic_seconds.as_secs();
        format!(
            "The form was accepted, but its mail did not arrive within {within} s; see SyntheticFormIsLate in docs/runbook.md"
        )
    })??;
    let arrived = started.elapsed();
    let uploaded = timeout(FORM_TIMEOUT, form::upload_too_large(&args.site_url)).await;
    let uploaded = uploaded.context("no answer in time").flatten();
    uploaded.context(
        "The form is well, but the proxy refuses an upload of 11 MB instead of the site; see docs/proxy.md",
    )?;
    let (accepted, arrived) = (accepted.as_secs_f32(), arrived.as_secs_f32());
    let line = format!("accepted after {accepted:.1} s, in the inbox after {arrived:.1} s");
    let document = json!({ "takenSeconds": accepted, "arrivedSeconds": arrived });
    print_output(args.json, &document, [line])
}

/// Waits for the mail to sales, which the mark redirects to the form's sender.
async fn arrival(mailbox: &mut Mailbox, request_id: &RequestId) -> anyhow::Result<()> {
    loop {
        if mailbox.remove(request_id, Channel::SalesLead).await? {
            return Ok(());
        }
        ensure!(
            !mailbox
                .remove(request_id, Channel::ContactAcknowledgement)
                .await?,
            "The site treated the form as a visitor's and mailed sales: SYNTHETIC_KEY differs from the contact service's."
        );
        sleep(POLL_INTERVAL).await;
    }
}
