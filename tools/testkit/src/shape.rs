//! Options of a stack.

use clap::{Args, ValueEnum};

/// Who serves the front ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Hosting {
    /// The gateway
    #[default]
    Gateway,
    /// As in the cluster: a server for each, behind a router by path
    Cluster,
    /// Nobody: only the API is served
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
    /// One with a single account and login, as a managed NATS may have
    #[value(skip)]
    Managed,
}

/// Options of a stack.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct Shape {
    /// Who serves the front ends
    #[arg(long, value_enum, default_value_t)]
    pub hosting: Hosting,
    /// Servers of the broker
    #[arg(long, value_enum, default_value_t)]
    pub broker: Broker,
    /// Starts a viewer that shows the traces of every service
    #[arg(long)]
    pub observe: bool,
    /// Mails go to maildev, which shows them, instead of a [`MailServer`](crate::MailServer)
    #[arg(skip)]
    pub inbox: bool,
    /// Small disks for broker and spool, which a test can fill; needs root
    #[arg(skip)]
    pub small_disks: bool,
    /// Two newsletter services and two notifiers
    #[arg(skip)]
    pub two_consumers: bool,
}
