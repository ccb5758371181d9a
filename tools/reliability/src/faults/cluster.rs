//! Faults of one of three brokers.

use std::time::Duration;

use fastrand::Rng;
use site_events::SITE_STREAM;
use testkit::Stack;
use tokio::time::{Instant, sleep};

use super::struck::Struck;

/// How long a leader is out of reach, at the least: longer than the others wait for a word of it before one of them stands for
/// election, nine seconds at the most. In less time it is the leader still, and nothing was tried.
const OUT_OF_REACH: Duration = Duration::from_secs(12);

/// What befalls a broker of three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterFault {
    /// The one that leads the stream of events is killed, and started anew once the others go on.
    LeaderKill,
    /// The one that leads the stream of events stands still until long after another one leads.
    LeaderFreeze,
    /// The same one is cut off from the others for as long; clients still reach it.
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
pub(super) async fn strike(fault: ClusterFault, stack: &mut Stack, rng: &mut Rng) -> anyhow::Result<Struck> {
    let leader = stack.nats.leader_of(SITE_STREAM).await?;
    let any = rng.usize(0..stack.nats.servers());
    let began = Instant::now();
    let mut struck = Struck::began_at(began).orphaning();
    match fault {
        ClusterFault::LeaderKill => {
            stack.nats.kill_server(leader).await?;
            struck.stopped = Some(leader);
            struck.election = stack.nats.another_leads(SITE_STREAM, leader).await? - began;
        }
        ClusterFault::LeaderFreeze => {
            stack.nats.freeze_server(leader).await?;
            let elected = out_of_reach(stack, leader).await?;
            stack.nats.thaw_server(leader)?;
            struck.election = elected - began;
        }
        ClusterFault::MinorityCutOff => {
            stack.nats.cut_off(leader)?;
            let elected = out_of_reach(stack, leader).await?;
            stack.nats.reconnect(leader)?;
            struck.election = elected - began;
        }
        ClusterFault::DiskWiped => {
            stack.nats.kill_server(any).await?;
            stack.nats.wipe_server(any)?;
            // Nobody has another disk within seconds, and one that came back empty would hold up the election.
            sleep(OUT_OF_REACH).await;
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
    Ok(struck)
}

/// The moment at which another one leads than the one that is out of reach, for as long as it has to be.
async fn out_of_reach(stack: &Stack, leader: usize) -> anyhow::Result<Instant> {
    let (elected, ()) = tokio::join!(stack.nats.another_leads(SITE_STREAM, leader), sleep(OUT_OF_REACH));
    elected
}
