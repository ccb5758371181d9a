//! Faults of our services.

use std::time::Duration;

use nix::sys::signal::Signal;
use site_broker::PULL_EXPIRES;
use testkit::Stack;
use tokio::time::{Instant, sleep};

use super::struck::Struck;

/// Each of them may be hit.
pub const SERVICES: [&str; 5] = ["gateway", "contact", "newsletter", "careers", "notifier"];

/// What befalls a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceFault {
    /// It is killed (SIGKILL) and started anew after a while: what comes meanwhile is handed to nobody, and is there at once
    /// for the next process. What the killed one had been handed comes again after the ack wait.
    Kill,
    /// It stands still for a while (SIGSTOP, SIGCONT).
    Freeze,
    /// It is asked to stop (SIGTERM), which it has to do without an error and in time, and started anew.
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
) -> anyhow::Result<Struck> {
    let (mut killed, mut gone) = (None, None);
    match fault {
        ServiceFault::Kill => {
            let now = Instant::now();
            killed = (service == "notifier").then_some(now..=now);
            stack.take_service(service)?.kill().await?;
            gone = Some(Instant::now() + handed_out_to_the_dead(stack));
            sleep(away).await;
            stack.start_service(service)?;
        }
        ServiceFault::Terminate => {
            stack.stop_service(service).await?;
            gone = Some(Instant::now());
            stack.start_service(service)?;
        }
        ServiceFault::Freeze => {
            stack.service(service)?.signal(Signal::SIGSTOP)?;
            sleep(away).await;
            stack.service(service)?.signal(Signal::SIGCONT)?;
        }
    }
    Ok(Struck {
        killed,
        orphaned_until: gone.filter(|_| service == "notifier"),
        ..Struck::over()
    })
}

/// For how long a cluster may go on handing out to a process that was killed (decision 18).
fn handed_out_to_the_dead(stack: &Stack) -> Duration {
    if stack.nats.servers() > 1 {
        PULL_EXPIRES
    } else {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use testkit::{Mail, Ports, Shape};

    use super::*;

    #[tokio::test]
    async fn a_service_that_ends_otherwise_than_by_stopping_is_told() -> anyhow::Result<()> {
        let shape = Shape {
            mail: Mail::Scripted,
            ..Shape::USUAL
        };
        let mut stack = Stack::start_as(shape, Ports::free()?, &[]).await?;
        strike(ServiceFault::Terminate, "contact", &mut stack, Duration::ZERO).await?;
        stack.service("contact")?.signal(Signal::SIGABRT)?;
        let struck = strike(ServiceFault::Terminate, "contact", &mut stack, Duration::ZERO).await;
        let told = struck.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(
            told.starts_with("contact was to stop, and ended with signal: 6"),
            "{told}"
        );
        Ok(())
    }
}
