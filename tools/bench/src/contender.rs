//! Who is compared, and with whom.

use clap::ValueEnum;

/// One who takes contact forms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, ValueEnum)]
pub enum Contender {
    /// Bare Axum that only answers
    Axum,
    /// Bare Axum that publishes to JetStream and awaits the ack
    AxumJetstream,
    /// Fastify and nats.js that do the same
    FastifyJetstream,
    /// Gateway and contact service as shipped, the notifier stopped
    Ours,
    /// The same while the notifier works a backlog off
    OursNotifier,
    /// The same with 10 % of the traces, metrics and logs sent to a collector
    OursTelemetry,
    /// The same with mutual TLS between gateway and service, and TLS to the broker, as in production
    OursTls,
    /// The peer with JetStream, whose broker has its disk write each form before it acknowledges it
    AxumJetstreamFsync,
    /// Ours with such a broker
    OursFsync,
}

/// What is different of the services or the broker of a contender.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Setting {
    /// Nothing.
    AsShipped,
    /// Services send telemetry.
    Telemetry,
    /// Services and broker speak TLS.
    Tls,
    /// The broker has its disk write each event before it acknowledges it.
    Fsync,
}

impl Contender {
    /// What it is called in tables and on the command line.
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Whose services or broker it uses.
    pub fn setting(self) -> Setting {
        match self {
            Self::OursTelemetry => Setting::Telemetry,
            Self::OursTls => Setting::Tls,
            Self::AxumJetstreamFsync | Self::OursFsync => Setting::Fsync,
            Self::Axum | Self::AxumJetstream | Self::FastifyJetstream | Self::Ours | Self::OursNotifier => {
                Setting::AsShipped
            }
        }
    }

    /// Whose rate its own is a share of: who has the same promise to keep with the same broker.
    pub fn base(self) -> Self {
        match self.setting() {
            Setting::Fsync => Self::AxumJetstreamFsync,
            // It has the same to do, and this costs it more.
            Setting::Tls => Self::Ours,
            Setting::AsShipped | Setting::Telemetry => Self::AxumJetstream,
        }
    }

    /// The least share of its base that it must reach, over the number of connections where bars are.
    pub fn least_share(self) -> Option<f64> {
        match self {
            // What was reached, less a quarter. What is wanted is 0.36: docs/performance.md
            Self::Ours => Some(0.25),
            Self::OursTls => Some(0.85),
            _ => None,
        }
    }

    /// Whether it is one of `tools/bench/peers`.
    pub fn is_peer(self) -> bool {
        matches!(
            self,
            Self::Axum | Self::AxumJetstream | Self::FastifyJetstream | Self::AxumJetstreamFsync
        )
    }
}
