//! Faults of the one broker.

use std::time::Duration;

use testkit::Stack;
use tokio::time::{Instant, sleep};

use super::struck::Struck;

/// What befalls the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokerFault {
    /// It is stopped, and started anew after a while.
    Away,
    /// It is killed and started anew.
    Kill,
    /// It stands still for a while.
    Freeze,
    /// It stands still again and again for a moment, as where it used up the processor time that it is allowed: each answer takes as
    /// long, so callers leave in the middle of everything.
    Throttle,
}

/// How long a broker that is throttled stands still, and runs, in turns.
const STANDS_STILL: Duration = Duration::from_millis(150);
const RUNS: Duration = Duration::from_millis(30);

impl BrokerFault {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Away, Self::Kill, Self::Freeze, Self::Throttle];
}

/// Does it to the broker.
pub(super) async fn strike(fault: BrokerFault, stack: &mut Stack, away: Duration) -> anyhow::Result<Struck> {
    let began = Instant::now();
    let mut killed = None;
    match fault {
        BrokerFault::Away => {
            stack.nats.stop().await?;
            sleep(away).await;
            stack.nats.resume_from_disk().await?;
        }
        BrokerFault::Kill => {
            stack.nats.kill_server(0).await?;
            stack.nats.start_server(0).await?;
            // It forgets what it had handed out. Where there are two notifiers, the other one may get that.
            let is_shared = stack.names().contains(&"notifier-2");
            killed = is_shared.then(|| began..=Instant::now());
        }
        BrokerFault::Freeze => {
            stack.nats.freeze().await?;
            sleep(away).await;
            stack.nats.thaw()?;
        }
        BrokerFault::Throttle => {
            while began.elapsed() < away {
                stack.nats.freeze().await?;
                sleep(STANDS_STILL).await;
                stack.nats.thaw()?;
                sleep(RUNS).await;
            }
        }
    }
    Ok(Struck {
        killed,
        ..Struck::over().orphaning()
    })
}
