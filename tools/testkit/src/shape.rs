//! Shape of a stack: what it is made of where there is a choice.

use clap::{Args, ValueEnum};

/// Who serves the front ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Hosting {
    /// The gateway, all of them
    #[default]
    Gateway,
    /// As in the cluster: a server for each, behind a router by path
    Cluster,
    /// Nobody: there are forms alone
    Nobody,
}

/// How many servers the broker has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Broker {
    /// One
    #[default]
    One,
    /// As in production: a cluster of three, each event on the disks of two before it is acknowledged
    Three,
}

/// When the broker has its disk write for good what it stored. A cluster's ([`Broker::Three`]) always does at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Fsync {
    /// After two minutes, as by itself
    #[default]
    Later,
    /// Before each acknowledgement, as in production
    Always,
}

/// Where all mail ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Mail {
    /// In an inbox with a page to read it
    #[default]
    Inbox,
    /// At a mail server that misbehaves when it is told to
    Scripted,
}

/// What is kept of mails and webhooks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// All of it
    #[default]
    Everything,
    /// What identifies them: enough to balance the books of 100,000s. An inbox keeps everything even so
    Identity,
}

/// Which clock our services go by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Clock {
    /// The system's
    #[default]
    System,
    /// Each one of its own, which can be stepped while it runs
    Stepped,
}

/// On which disks the broker and the spool of résumés lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Disks {
    /// The system's
    #[default]
    System,
    /// Small ones of their own, which can be filled; needs root
    Small,
}

/// How many of those services run that take events: the newsletter service and the notifier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Replicas {
    /// One of each
    #[default]
    One,
    /// Two of each, which share the events
    Two,
}

/// What is spoken between the gateway and the services, and to the broker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Tls {
    /// Clear text, as on one machine
    #[default]
    Off,
    /// Mutual TLS between the gateway and the services, and TLS to the broker, as in production; with one broker alone
    On,
}

/// What a stack is made of where there is a choice.
#[derive(Args, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Who serves the front ends
    #[arg(long, value_enum, default_value_t)]
    pub hosting: Hosting,
    /// How many servers the broker has
    #[arg(long, value_enum, default_value_t)]
    pub broker: Broker,
    /// When one server's disk writes for good what it stored
    #[arg(long, value_enum, default_value_t)]
    pub fsync: Fsync,
    /// Where all mail ends
    #[arg(long, value_enum, default_value_t)]
    pub mail: Mail,
    /// What is kept of mails and webhooks
    #[arg(long, value_enum, default_value_t)]
    pub keep: Keep,
    /// Which clock our services go by
    #[arg(long, value_enum, default_value_t)]
    pub clock: Clock,
    /// On which disks the broker and the spool of résumés lie
    #[arg(long, value_enum, default_value_t)]
    pub disks: Disks,
    /// How many newsletter services and notifiers take events
    #[arg(long, value_enum, default_value_t)]
    pub replicas: Replicas,
    /// What is spoken between the gateway and the services, and to the broker
    #[arg(long, value_enum, default_value_t)]
    pub tls: Tls,
    /// Shows traces: starts a viewer, which every service sends all of them
    #[arg(long)]
    pub observe: bool,
}

impl Shape {
    /// The usual one, for constants, too.
    pub const USUAL: Self = Self {
        hosting: Hosting::Gateway,
        broker: Broker::One,
        fsync: Fsync::Later,
        mail: Mail::Inbox,
        keep: Keep::Everything,
        clock: Clock::System,
        disks: Disks::System,
        replicas: Replicas::One,
        tls: Tls::Off,
        observe: false,
    };
}

impl Default for Shape {
    fn default() -> Self {
        Self::USUAL
    }
}
