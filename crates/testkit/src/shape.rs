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
}

/// What a stack is made of where there is a choice.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct Shape {
    /// Who serves the front ends
    #[arg(long, value_enum, default_value_t)]
    pub hosting: Hosting,
    /// Shows traces: starts a viewer, which every service sends all of them
    #[arg(long)]
    pub observe: bool,
}
