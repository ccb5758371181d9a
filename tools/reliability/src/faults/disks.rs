//! Full disks.

use std::time::Duration;

use anyhow::Context;
use testkit::Stack;
use tokio::time::sleep;

use super::struck::Struck;

/// Which disk is full for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskFault {
    /// The broker's.
    BrokerFull,
    /// The one on which résumés lie while they arrive.
    SpoolFull,
}

impl DiskFault {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::BrokerFull, Self::SpoolFull];
}

/// Fills the disk, and gives the room back.
pub(super) async fn strike(fault: DiskFault, stack: &mut Stack, away: Duration) -> anyhow::Result<Struck> {
    let disks = stack.disks.as_ref().context("there are no small disks")?;
    let disk = match fault {
        DiskFault::BrokerFull => &disks.broker,
        DiskFault::SpoolFull => &disks.spool,
    };
    disk.fill(0)?;
    sleep(away).await;
    disk.free()?;
    if fault == DiskFault::SpoolFull {
        return Ok(Struck::over());
    }
    // It gives up JetStream until it is started anew, which its liveness probe sees to.
    stack.nats.kill_server(0).await?;
    stack.nats.start_server(0).await?;
    Ok(Struck::over().orphaning())
}
