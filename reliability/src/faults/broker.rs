//! Faults of the one broker.

use std::time::Duration;

use testkit::Stack;
use tokio::time::sleep;

/// What befalls the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokerFault {
    /// It is stopped, and started anew after a while.
    Away,
    /// It is killed and started anew.
    Kill,
    /// It stands still for a while.
    Freeze,
}

impl BrokerFault {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Away, Self::Kill, Self::Freeze];
}

/// Does it to the broker.
pub(super) async fn strike(fault: BrokerFault, stack: &mut Stack, away: Duration) -> anyhow::Result<()> {
    match fault {
        BrokerFault::Away => {
            stack.nats.stop().await?;
            sleep(away).await;
            stack.nats.resume_from_disk().await
        }
        BrokerFault::Kill => {
            stack.nats.kill_server(0).await?;
            stack.nats.start_server(0).await
        }
        BrokerFault::Freeze => {
            stack.nats.freeze().await?;
            sleep(away).await;
            stack.nats.thaw()
        }
    }
}
