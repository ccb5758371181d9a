//! Shape of a stack: what it consists of, where there is a choice.

use clap::{Args, ValueEnum};

/// Who serves the front ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Hosting {
    /// The gateway
    #[default]
    Gateway,
    /// As in the cluster: a server for each, behind a router by path
    Cluster,
    /// Nobody: there are forms only
    Nobody,
}

/// Servers of the broker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Broker {
    /// One
    #[default]
    One,
    /// A cluster of three, as in production
    Three,
}

/// What a stack consists of, where there is a choice.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct Shape {
    /// Who serves the front ends
    #[arg(long, value_enum, default_value_t)]
    pub hosting: Hosting,
    /// Servers of the broker
    #[arg(long, value_enum, default_value_t)]
    pub broker: Broker,
    /// Starts a viewer of traces, which gets those of every service
    #[arg(long)]
    pub observe: bool,
    /// Whether maildev takes the mails and shows them on a page, instead of a [`MailServer`](crate::MailServer)
    #[arg(skip)]
    pub inbox: bool,
    /// Whether the broker and the spool of résumés have disks that a test can fill; needs root
    #[arg(skip)]
    pub small_disks: bool,
    /// Whether there are two newsletter services and two notifiers, which consume events
    #[arg(skip)]
    pub two_consumers: bool,
}
