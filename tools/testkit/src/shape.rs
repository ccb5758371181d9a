//! Shape of a stack: what it consists of, where there is a choice.

use clap::ValueEnum;

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

/// When the broker writes messages to disk. A cluster always does at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fsync {
    /// Every two minutes, which is its default
    #[default]
    Later,
    /// Before each acknowledgement, as in production
    Always,
}

/// The mail server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mail {
    /// Maildev, with a web page that shows the mails
    Inbox,
    /// A [`MailServer`](crate::MailServer) in this process, which fails on demand
    #[default]
    Scripted,
}

/// What is kept of mails and webhooks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// Everything
    #[default]
    Everything,
    /// What identifies them, so that a run can have hundreds of thousands
    Identity,
}

/// The clock of our services.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clock {
    /// The system's
    #[default]
    System,
    /// One for each service, which a test can step
    Stepped,
}

/// The disks of the broker and of the spool of résumés.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Disks {
    /// The system's
    #[default]
    System,
    /// Small ones, which a test can fill; needs root
    Small,
}

/// Replicas of the newsletter service and of the notifier, which consume events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Replicas {
    /// One of each
    #[default]
    One,
    /// Two of each
    Two,
}

/// What a stack consists of, where there is a choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each type says it")]
pub struct Shape {
    pub hosting: Hosting,
    pub broker: Broker,
    pub fsync: Fsync,
    pub mail: Mail,
    pub keep: Keep,
    pub clock: Clock,
    pub disks: Disks,
    pub replicas: Replicas,
    /// Whether every service sends its traces to a viewer.
    pub observe: bool,
}

impl Shape {
    /// The default, as a constant.
    pub const USUAL: Self = Self {
        hosting: Hosting::Gateway,
        broker: Broker::One,
        fsync: Fsync::Later,
        mail: Mail::Scripted,
        keep: Keep::Everything,
        clock: Clock::System,
        disks: Disks::System,
        replicas: Replicas::One,
        observe: false,
    };
}
