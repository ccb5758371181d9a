//! Faults of our services.

use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::Stack;
use tokio::time::sleep;

/// Each of them may be hit.
pub const SERVICES: [&str; 5] = ["gateway", "contact", "newsletter", "careers", "notifier"];
/// How many mails and webhooks a notifier may be handing over at once: four connections for each of seven channels, and
/// four for an endpoint.
pub const MAX_HANDED_OVER: usize = 4 * 7 + 4;

/// What befalls a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceFault {
    /// It is killed (SIGKILL) and started anew.
    Kill,
    /// It stands still for a while (SIGSTOP, SIGCONT).
    Freeze,
    /// It is asked to stop (SIGTERM) and started anew.
    Terminate,
}

impl ServiceFault {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Kill, Self::Freeze, Self::Terminate];
}

/// Does it to this service.
pub(super) async fn strike(
    fault: ServiceFault,
    service: &str,
    stack: &mut Stack,
    away: Duration,
) -> anyhow::Result<()> {
    match fault {
        ServiceFault::Kill => stack.take_service(service)?.kill().await?,
        ServiceFault::Terminate => drop(stack.take_service(service)?.stop().await?),
        ServiceFault::Freeze => {
            stack.service(service)?.signal(Signal::SIGSTOP)?;
            sleep(away).await;
            return stack.service(service)?.signal(Signal::SIGCONT);
        }
    }
    stack.start_service(service)
}
