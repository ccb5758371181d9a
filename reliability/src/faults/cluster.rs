//! Faults of one of three brokers.

use std::time::Duration;

use fastrand::Rng;
use site_events::SITE_STREAM;
use testkit::Stack;
use tokio::time::{Instant, sleep};

use super::struck::Struck;

/// What befalls a broker of three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterFault {
    /// The one that leads the stream of events is killed, and started anew once the others go on.
    LeaderKill,
    /// The one that leads the stream of events stands still for a while.
    LeaderFreeze,
    /// One is cut off from the others for a while, whatever it leads; clients still reach it.
    MinorityCutOff,
    /// One loses its disk and joins again.
    DiskWiped,
    /// Each is stopped and started anew, one after another.
    RollingRestart,
}

impl ClusterFault {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::LeaderKill,
        Self::LeaderFreeze,
        Self::MinorityCutOff,
        Self::DiskWiped,
        Self::RollingRestart,
    ];
}

/// Does it to one of the servers, or to each. The others have to go on from the moment on at which it begins.
pub(super) async fn strike(
    fault: ClusterFault,
    stack: &mut Stack,
    away: Duration,
    rng: &mut Rng,
) -> anyhow::Result<Struck> {
    let leader = stack.nats.leader_of(SITE_STREAM).await?;
    let any = rng.usize(0..stack.nats.servers());
    let began = Instant::now();
    match fault {
        ClusterFault::LeaderKill => {
            stack.nats.kill_server(leader).await?;
            return Ok(Struck {
                stopped: Some(leader),
                ..Struck::began_at(began).orphaning()
            });
        }
        ClusterFault::LeaderFreeze => {
            stack.nats.freeze_server(leader).await?;
            sleep(away).await;
            stack.nats.thaw_server(leader)?;
        }
        ClusterFault::MinorityCutOff => {
            stack.nats.cut_off(any)?;
            sleep(away).await;
            stack.nats.reconnect(any)?;
        }
        ClusterFault::DiskWiped => {
            stack.nats.kill_server(any).await?;
            stack.nats.wipe_server(any)?;
            sleep(away).await;
            stack.nats.start_server(any).await?;
        }
        ClusterFault::RollingRestart => {
            for server in 0..stack.nats.servers() {
                stack.nats.stop_server(server).await?;
                stack.nats.start_server(server).await?;
                stack.nats.wait_until_current().await?;
            }
        }
    }
    Ok(Struck::began_at(began).orphaning())
}
