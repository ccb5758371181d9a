//! Faults of the bucket's server.

use std::time::Duration;

use testkit::{S3Fault, Stack};
use tokio::time::sleep;

/// A store that is slow: bytes a second.
const SLOW_BYTES: u32 = 20_000;
/// A store that cuts uploads: after so many bytes.
const CUT_AFTER_BYTES: usize = 1_000;

/// What befalls the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreFault {
    /// It is away for a while.
    Away,
    /// It misbehaves for a while.
    Misbehaves(S3Fault),
}

impl StoreFault {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Away,
        Self::Misbehaves(S3Fault::HoldAnswers),
        Self::Misbehaves(S3Fault::Slow(SLOW_BYTES)),
        Self::Misbehaves(S3Fault::CutUploadAfter(CUT_AFTER_BYTES)),
        Self::Misbehaves(S3Fault::FailAfterStoring),
        Self::Misbehaves(S3Fault::Unavailable),
    ];
}

/// Does it to the store.
pub(super) async fn strike(fault: StoreFault, stack: &mut Stack, away: Duration) -> anyhow::Result<()> {
    match fault {
        StoreFault::Away => {
            stack.s3.stop().await?;
            sleep(away).await;
            stack.s3.resume_from_disk().await
        }
        StoreFault::Misbehaves(fault) => {
            stack.s3.fault(fault);
            sleep(away).await;
            stack.s3.fault(S3Fault::None);
            Ok(())
        }
    }
}
