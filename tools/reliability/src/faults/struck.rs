//! A fault that was made.

use std::{ops::RangeInclusive, time::Duration};

use testkit::Stack;
use tokio::time::Instant;

/// What was done, and what is still to be done once the site has recovered.
pub struct Struck {
    /// The moment from which recovery counts.
    pub back: Instant,
    /// From when to when somebody was killed who knew what notifiers had handed over, if anybody was.
    pub killed: Option<RangeInclusive<Instant>>,
    /// What was accepted until then may have been handed out to, or by, somebody who is gone: it comes again after the ack
    /// wait.
    pub orphaned_until: Option<Instant>,
    /// How long the cluster took to elect another leader, where it had to.
    pub election: Duration,
    /// A server of the broker that is to be started again.
    pub(super) stopped: Option<usize>,
}

impl Struck {
    /// It is over now.
    pub(super) fn over() -> Self {
        Self::began_at(Instant::now())
    }

    /// It began then, and the site has to go on by itself.
    pub(super) fn began_at(moment: Instant) -> Self {
        Self {
            back: moment,
            killed: None,
            orphaned_until: None,
            election: Duration::ZERO,
            stopped: None,
        }
    }

    /// Whatever was handed out until the moment from which recovery counts may be nobody's.
    pub(super) fn orphaning(self) -> Self {
        Self {
            orphaned_until: Some(self.back),
            ..self
        }
    }

    /// Puts the stack back into its whole shape, for the next fault.
    ///
    /// # Errors
    ///
    /// If a server of the broker does not start, or not catch up.
    pub async fn mend(self, stack: &mut Stack) -> anyhow::Result<()> {
        if let Some(server) = self.stopped {
            stack.nats.start_server(server).await?;
        }
        if stack.nats.servers() > 1 {
            stack.nats.wait_until_current().await?;
        }
        Ok(())
    }
}
