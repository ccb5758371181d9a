//! Names of the states of a subscription, as arguments and tables have them.

use clap::ValueEnum;

/// Where a subscription stands, by its name alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StateName {
    Pending,
    Confirmed,
    Unsubscribed,
    Suppressed,
}

impl StateName {
    pub fn named(name: &str) -> Option<Self> {
        let all = Self::value_variants().iter();
        all.copied().find(|state_name| state_name.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Confirmed => "confirmed",
            Self::Unsubscribed => "unsubscribed",
            Self::Suppressed => "suppressed",
        }
    }
}
