//! Reports of parts of the site that do not reach its visitors.

use opentelemetry::KeyValue;
use serde::Deserialize;
use site_service::metrics;
use utoipa::ToSchema;

/// A part of the site that a browser could not load.
#[derive(Deserialize, ToSchema)]
pub struct RemoteFailure {
    /// The front end that the part is from
    remote: Remote,
    /// What happened to it
    reason: Reason,
}

/// The front ends whose parts are loaded while the page is open.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Remote {
    Shell,
    Blog,
    Careers,
}

/// Why a part is not there.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Reason {
    /// It did not arrive, however often it was asked for
    Unreachable,
    /// It has not arrived after eight seconds
    Slow,
    /// It arrived and cannot be run
    Broken,
}

impl Remote {
    fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Blog => "blog",
            Self::Careers => "careers",
        }
    }
}

impl Reason {
    fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Slow => "slow",
            Self::Broken => "broken",
        }
    }
}

/// Counts it.
pub fn count(RemoteFailure { remote, reason }: RemoteFailure) {
    let (remote, reason) = (remote.name(), reason.name());
    metrics::meter()
        .u64_counter("site.remote.failures")
        .with_unit("{failure}")
        .with_description("Parts of the site that browsers could not load")
        .build()
        .add(
            1,
            &[KeyValue::new("remote", remote), KeyValue::new("reason", reason)],
        );
    tracing::warn!(remote, reason, "a browser could not load a part of the site");
}
