//! One channel's way to the mail server: its connections, and whether the server lately took its mails.

use std::{
    collections::HashSet,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use opentelemetry::metrics::UpDownCounter;
use site_broker::Failure;
use site_service::metrics;
use tokio::{sync::Semaphore, time::Instant};

use super::{failure::SmtpFailure, refusal::Refusal};

/// The most connections of one channel.
pub const MAX_CONNECTIONS: usize = 4;
/// The most connections for the newsletter's issues, so that all other mails go first.
pub const MAX_BULK_CONNECTIONS: usize = 2;
/// The interval between two probes while the server refuses our account. A restart asks at once.
const PROBE_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// Refusals to this many domains in a row are about us, whatever the server says of them.
const DOMAINS_IN_A_ROW: usize = 5;

static HELD: LazyLock<UpDownCounter<i64>> = LazyLock::new(|| {
    metrics::meter()
        .i64_up_down_counter("site.smtp.held")
        .with_unit("{channel}")
        .with_description("Mail channels that are held because the mail server refuses our account")
        .build()
});

/// One channel's connections and its standing at the mail server. A server may refuse one channel and take another, such as a relay that
/// takes mails to its own domain only.
pub struct SmtpChannel {
    pub(super) connections: Semaphore,
    standing: Mutex<Standing>,
}

#[derive(Default)]
struct Standing {
    /// The time of the next probe, while the server refuses our account.
    held_until: Option<Instant>,
    /// The domains of the refusals since it last took a mail.
    refused_domains: HashSet<String>,
}

impl SmtpChannel {
    /// A channel with at most so many connections.
    pub fn new(connections: usize) -> Self {
        HELD.add(0, &[]);
        Self {
            connections: Semaphore::new(connections),
            standing: Mutex::default(),
        }
    }

    /// Whether the server may be asked now. While our account is refused, one mail an hour asks.
    pub(super) fn may_ask(&self, now: Instant) -> Result<(), SmtpFailure> {
        match &mut self.standing().held_until {
            Some(until) if *until > now => Err(Failure::retry_later(
                "the mail server refuses our account, and is asked again within the hour",
            )
            .into()),
            Some(until) => {
                *until = now + PROBE_INTERVAL;
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(super) fn taken(&self) {
        let mut standing = self.standing();
        standing.refused_domains.clear();
        if standing.held_until.take().is_some() {
            HELD.add(-1, &[]);
            tracing::info!("the mail server takes mails again");
        }
    }

    /// What becomes of a mail to this domain that was not taken. A refusal is final while it stands alone. More in a row may be about us:
    /// none of them is given up before another mail is taken.
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
    fn a_refused_account_is_asked_once_an_hour_until_a_mail_is_taken() {
        let channel = SmtpChannel::new(MAX_CONNECTIONS);
        assert_eq!(refuse(&channel, Refusal::Account, "a"), RETRY_LATER);
        let now = Instant::now();
        assert!(channel.may_ask(now + PROBE_INTERVAL / 2).is_err());
        let probe = now + PROBE_INTERVAL;
        assert!(channel.may_ask(probe).is_ok());
        assert!(channel.may_ask(probe).is_err(), "one mail asks");
        channel.taken();
        assert!(channel.may_ask(probe).is_ok());
    }

    #[test]
    fn refusals_of_several_domains_in_a_row_give_up_no_mail() {
        let channel = SmtpChannel::new(MAX_CONNECTIONS);
        let remedies =
            ["a", "a", "b", "c", "d", "e", "f"].map(|name| refuse(&channel, Refusal::NoSuchAddress, name));
        let [first, same_domain, others @ ..] = remedies;
        assert_eq!([first, same_domain], [Remedy::DeadLetter; 2]);
        assert_eq!(others, [RETRY, RETRY, RETRY, RETRY_LATER, RETRY_LATER]);
        channel.taken();
        assert_eq!(refuse(&channel, Refusal::Mail, "b"), Remedy::DeadLetter);
    }

    #[test]
    fn an_unexplained_refusal_is_retried() {
        let channel = SmtpChannel::new(MAX_CONNECTIONS);
        let remedies = ["a", "b", "c", "d", "e"].map(|name| refuse(&channel, Refusal::Unknown, name));
        assert_eq!(remedies, [RETRY, RETRY, RETRY, RETRY, RETRY_LATER]);
    }
}
