//! The faults: what is done to a running stack, and when it is over.

mod broker;
mod clocks;
mod cluster;
mod disks;
mod mail;
mod release;
mod services;
mod store;
mod struck;

use std::{fmt, ops::Range, time::Duration};

use fastrand::Rng;
use reqwest::StatusCode;
use testkit::{Broker, Clock, Disks, Hosting, Replicas, Shape, Stack};
use tokio::time::sleep;

use self::{
    broker::BrokerFault, disks::DiskFault, mail::MailServerFault, services::ServiceFault, struck::Struck,
};
pub use self::{cluster::ClusterFault, services::SERVICES, store::StoreFault};
use crate::awaited_deliveries::Awaited;

/// How long what is away stays away, in milliseconds: up to longer than a form may take.
pub(crate) const AWAY_MS: Range<u64> = 500..8_000;

/// What is done to the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: what the others are compared with.
    Nothing,
    /// To one of our services.
    Service(ServiceFault, &'static str),
    /// To the one broker.
    Broker(BrokerFault),
    /// To one of three brokers.
    Cluster(ClusterFault),
    /// To the bucket's server.
    Store(StoreFault),
    /// To the mail server.
    Mail(MailServerFault),
    /// The receiver of webhooks answers for a while that it cannot take any.
    Receiver,
    /// A disk is full for a while.
    Disk(DiskFault),
    /// The clock of this service steps forth or back for a while.
    ClockSteps(&'static str),
    /// Visitors leave at any moment of their request.
    VisitorsVanish,
    /// Each service is replaced by that of another release, one after another, and then back again.
    OtherRelease,
}

impl Fault {
    /// Every fault that needs nothing but this checkout.
    pub fn all() -> Vec<Self> {
        let services = ServiceFault::ALL
            .into_iter()
            .flat_map(|fault| SERVICES.map(|service| Self::Service(fault, service)));
        [Self::Nothing]
            .into_iter()
            .chain(services)
            .chain(BrokerFault::ALL.map(Self::Broker))
            .chain(StoreFault::ALL.map(Self::Store))
            .chain(MailServerFault::ALL.map(Self::Mail))
            .chain([Self::Receiver])
            .chain(DiskFault::ALL.map(Self::Disk))
            .chain(SERVICES.map(Self::ClockSteps))
            .chain([Self::VisitorsVanish])
            .chain(ClusterFault::ALL.map(Self::Cluster))
            .collect()
    }

    /// Whether it leaves the processes of our services alive.
    pub fn spares_services(self) -> bool {
        !matches!(
            self,
            Self::Service(ServiceFault::Kill | ServiceFault::Terminate, _) | Self::OtherRelease
        )
    }

    /// Whether it may keep a visitor who waits from an answer: whatever else is away, the gateway has one.
    pub fn silences(self) -> bool {
        matches!(self, Self::Service(_, "gateway") | Self::OtherRelease)
    }

    /// Whether forms must have been refused while it lasted: otherwise it was not made.
    pub fn refuses(self) -> bool {
        matches!(
            self,
            Self::Disk(_) | Self::Store(StoreFault::Away) | Self::Broker(BrokerFault::Away)
        )
    }

    /// Whether this is a delivery that it may hold up: of the store's faults only the mail that carries a résumé.
    pub fn shows_in(self, delivery: Awaited) -> bool {
        match self {
            Self::Store(_) => matches!(delivery, Awaited::Recruiters(_)),
            Self::Receiver => matches!(delivery, Awaited::SalesTool(_)),
            _ => matches!(delivery, Awaited::Visitor(_)),
        }
    }

    /// Whether it takes longer than the others.
    pub fn is_long(self) -> bool {
        self == Self::Mail(MailServerFault::AwayLong)
    }

    /// The stack that it needs, where that is not the usual one.
    pub fn shape(self) -> Shape {
        let mut shape = Shape::default();
        match self {
            Self::Cluster(_) => shape.broker = Broker::Three,
            Self::Disk(_) => shape.disks = Disks::Small,
            Self::ClockSteps(_) => shape.clock = Clock::Stepped,
            Self::OtherRelease => {
                shape.replicas = Replicas::Two;
                // A gateway takes the site of its own release alone, with which it lies in one image.
                shape.hosting = Hosting::Nobody;
            }
            _ => {}
        }
        shape
    }

    /// Does it to the stack.
    ///
    /// # Errors
    ///
    /// If the fault cannot be made.
    pub async fn strike(self, stack: &mut Stack, rng: &mut Rng) -> anyhow::Result<Struck> {
        let away = Duration::from_millis(rng.u64(AWAY_MS));
        match self {
            Self::Nothing | Self::VisitorsVanish => sleep(away).await,
            Self::Service(fault, service) => return services::strike(fault, service, stack, away).await,
            Self::Broker(fault) => return broker::strike(fault, stack, away).await,
            Self::Cluster(fault) => return cluster::strike(fault, stack, rng).await,
            Self::Store(fault) => store::strike(fault, stack, away).await?,
            Self::Mail(fault) => mail::strike(fault, stack, away).await?,
            Self::Receiver => {
                stack.receiver.answer(StatusCode::SERVICE_UNAVAILABLE);
                sleep(away).await;
                stack.receiver.answer(StatusCode::NO_CONTENT);
            }
            Self::Disk(fault) => return disks::strike(fault, stack, away).await,
            Self::ClockSteps(service) => clocks::step(service, stack, away, rng).await?,
            Self::OtherRelease => {
                release::replace_and_restore(stack, rng).await?;
                return Ok(Struck::over().orphaning());
            }
        }
        Ok(Struck::over())
    }
}

/// The name of its row: `kill-contact`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(fault, service) => write!(f, "{}-{service}", kebab(fault)),
            Self::Broker(fault) => write!(f, "broker-{}", kebab(fault)),
            Self::Cluster(fault) => write!(f, "cluster-{}", kebab(fault)),
            Self::Store(StoreFault::Misbehaves(fault)) => write!(f, "store-{}", kebab(fault)),
            Self::Store(fault) => write!(f, "store-{}", kebab(fault)),
            Self::Mail(MailServerFault::Misbehaves(fault)) => write!(f, "mail-{}", kebab(fault)),
            Self::Mail(fault) => write!(f, "mail-{}", kebab(fault)),
            Self::Disk(fault) => write!(f, "disk-{}", kebab(fault)),
            Self::ClockSteps(service) => write!(f, "clock-steps-{service}"),
            Self::Receiver => f.write_str("receiver-unavailable"),
            Self::Nothing | Self::VisitorsVanish | Self::OtherRelease => f.write_str(&kebab(self)),
        }
    }
}

/// The name of a variant, without its values: `fail-after-storing`.
fn kebab(variant: &impl fmt::Debug) -> String {
    let debug = format!("{variant:?}");
    let name = debug.split('(').next().unwrap_or(&debug);
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}
