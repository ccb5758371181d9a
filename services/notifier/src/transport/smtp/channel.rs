//! One channel's connections to the mail server, and whether the server accepts its mails.

use std::{
    collections::HashSet,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use opentelemetry::metrics::UpDownCounter;
use site_broker::Failure;
use site_mail::refusal::Refusal;
use site_service::metrics;
use tokio::{sync::Semaphore, time::Instant};

use super::failure::SmtpFailure;

pub const MAX_CONNECTIONS: usize = 4;
/// Connections for newsletter issues, fewer than [`MAX_CONNECTIONS`], so that issues do not delay other mails.
pub const MAX_BULK_CONNECTIONS: usize = 2;
/// Interval between probes while the server rejects our account. A restart probes at once.
const PROBE_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// When this many domains in a row reject mails, the cause is our account, not the recipients.
const DOMAINS_IN_A_ROW: usize = 5;

static HELD: LazyLock<UpDownCounter<i64>> = LazyLock::new(|| {
    metrics::meter()
        .i64_up_down_counter("site.smtp.held")
        .with_unit("{channel}")
        .with_description("Mail channels that are held because the mail server refuses our account")
        .build()
});

/// State of one mail channel. Some relays accept only mails to their own domain, so they reject only some channels.
pub struct SmtpChannel {
    pub(super) connections: Semaphore,
    standing: Mutex<Standing>,
}

#[derive(Default)]
struct Standing {
    /// Time of the next probe, while the server rejects our account.
    held_until: Option<Instant>,
    /// Domains rejected since the last accepted mail.
    refused_domains: HashSet<String>,
}

impl SmtpChannel {
    pub fn new(connections: usize) -> Self {
        HELD.add(0, &[]);
        Self {
            connections: Semaphore::new(connections),
            standing: Mutex::default(),
        }
    }

    /// Fails while the server rejects our account, except for one mail an hour.
    pub(super) fn may_ask(&self, now: Instant) -> Result<(), SmtpFailure> {
        match &mut self.standing().held_until {
            Some(until) if *until > now => Err(Failure::retry_later(
                "the mail server refuses our account; the next probe is within an hour",
            )
            .into()),
            Some(until) => {
                *until = now + PROBE_INTERVAL;
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(super) fn accepted(&self) {
        let mut standing = self.standing();
        standing.refused_domains.clear();
        if standing.held_until.take().is_some() {
            HELD.add(-1, &[]);
            tracing::info!("the mail server accepts mails again");
        }
    }

    /// Decides whether a failed mail is retried. If several domains in a row reject mails, our account may be
    /// the cause, so those mails are retried.
    pub(super) fn judge(&self, failure: SmtpFailure, domain: &str, now: Instant) -> SmtpFailure {
        let (Some(refusal), mut standing) = (failure.refusal, self.standing()) else {
            return failure;
        };
        let reason = failure.failure.reason;
        if refusal == Refusal::Account {
            if standing.held_until.replace(now + PROBE_INTERVAL).is_none() {
                HELD.add(1, &[]);
                tracing::error!(
                    reason,
                    "the mail server refuses our account; the channel's mails are held (docs/runbook.md, MailIsHeld)"
                );
            }
        } else if standing.refused_domains.len() < DOMAINS_IN_A_ROW {
            standing.refused_domains.insert(domain.to_lowercase());
        }
        let failure = match (refusal, standing.refused_domains.len()) {
            (Refusal::Account, _) | (_, DOMAINS_IN_A_ROW..) => Failure::retry_later(reason),
            (Refusal::Unknown, _) | (_, 2..) => Failure::retry(reason),
            _ => Failure::permanent(reason),
        };
        SmtpFailure {
            failure,
            refusal: Some(refusal),
        }
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use site_broker::Remedy;

    use super::*;

    const RETRY: Remedy = Remedy::Retry {
        at_least: Duration::ZERO,
    };
    const RETRY_LATER: Remedy = Remedy::RetryLater {
        at_least: Duration::ZERO,
    };

    fn refuse(channel: &SmtpChannel, refusal: Refusal, domain: &str) -> Remedy {
        let failure = SmtpFailure::refused(refusal, "no");
        channel.judge(failure, domain, Instant::now()).failure.remedy
    }

    #[test]
    fn a_refused_account_is_probed_hourly_until_acceptance() {
        let channel = SmtpChannel::new(MAX_CONNECTIONS);
        assert_eq!(refuse(&channel, Refusal::Account, "a"), RETRY_LATER);
        let now = Instant::now();
        assert!(channel.may_ask(now + PROBE_INTERVAL / 2).is_err());
        let probe = now + PROBE_INTERVAL;
        assert!(channel.may_ask(probe).is_ok());
        assert!(channel.may_ask(probe).is_err(), "one mail asks");
        channel.accepted();
        assert!(channel.may_ask(probe).is_ok());
    }

    #[test]
    fn refusals_by_several_domains_are_retried() {
        let channel = SmtpChannel::new(MAX_CONNECTIONS);
        let remedies =
            ["a", "a", "b", "c", "d", "e", "f"].map(|name| refuse(&channel, Refusal::NoSuchAddress, name));
        let [first, same_domain, others @ ..] = remedies;
        assert_eq!([first, same_domain], [Remedy::DeadLetter; 2]);
        assert_eq!(others, [RETRY, RETRY, RETRY, RETRY_LATER, RETRY_LATER]);
        channel.accepted();
        assert_eq!(refuse(&channel, Refusal::Mail, "b"), Remedy::DeadLetter);
    }

    #[test]
    fn an_unexplained_refusal_is_retried() {
        let channel = SmtpChannel::new(MAX_CONNECTIONS);
        let remedies = ["a", "b", "c", "d", "e"].map(|name| refuse(&channel, Refusal::Unknown, name));
        assert_eq!(remedies, [RETRY, RETRY, RETRY, RETRY, RETRY_LATER]);
    }
}
