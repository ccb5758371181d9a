//! How soon everything has to go on after a fault.

use std::time::Duration;

use testkit::Broker;

/// How soon forms of each kind are accepted, and mails of the backlog delivered, once what was away is back.
pub const MAX_RECOVERY: Duration = Duration::from_secs(5);
/// How soon they are on three brokers, and how long nothing may be accepted meanwhile: after a leader is lost, the others
/// have to elect another one. Where that alone takes longer, it is [`MAX_RECOVERY`] from then on.
const MAX_RECOVERY_OF_THREE: Duration = Duration::from_secs(10);

/// How long everything may take to go on after a fault, with the time that an election took which it began.
pub fn max_recovery(broker: Broker, election: Duration) -> Duration {
    match broker {
        Broker::One => MAX_RECOVERY,
        Broker::Three => MAX_RECOVERY_OF_THREE.max(election + MAX_RECOVERY),
    }
}
