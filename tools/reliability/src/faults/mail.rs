//! Faults of the mail server.

use std::time::Duration;

use testkit::{MailFault, Stack};
use tokio::time::sleep;

/// How long it is away where it is away for long.
const LONG_AWAY: Duration = Duration::from_secs(60);

/// What befalls the mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailServerFault {
    /// It misbehaves, or is away, for a while.
    Misbehaves(MailFault),
    /// It is away for so long that the pauses between attempts grow long.
    AwayLong,
}

impl MailServerFault {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Misbehaves(MailFault::RefuseRecipients),
        Self::Misbehaves(MailFault::RefuseContents),
        Self::Misbehaves(MailFault::LocalError),
        Self::Misbehaves(MailFault::Hang),
        Self::Misbehaves(MailFault::HangUp),
        Self::Misbehaves(MailFault::Away),
        Self::AwayLong,
    ];
}

/// Does it to the mail server.
pub(super) async fn strike(fault: MailServerFault, stack: &Stack, away: Duration) -> anyhow::Result<()> {
    let (fault, away) = match fault {
        MailServerFault::Misbehaves(fault) => (fault, away),
        MailServerFault::AwayLong => (MailFault::Away, LONG_AWAY),
    };
    let mail_server = stack.mail_server()?;
    mail_server.fault(fault);
    sleep(away).await;
    mail_server.fault(MailFault::None);
    Ok(())
}
