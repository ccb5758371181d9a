//! gRPC health checks (liveness, readiness): SERVING only while all dependencies are reachable.

use std::{future::Future, pin::Pin, time::Duration};

use async_nats::jetstream;
use tokio::time::{Instant, sleep, timeout};
use tonic_health::{ServingStatus, server::HealthReporter};

use crate::{drain::CancellationToken, nats};

/// The service that a liveness probe asks for: SERVING as long as the process answers. It
/// says nothing of dependencies, because a restart mends none of them.
pub const LIVE: &str = "live";

const PROBE_INTERVAL: Duration = Duration::from_secs(1);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Something a service cannot work without.
pub struct Dependency {
    name: &'static str,
    probe: Box<dyn Fn() -> Probe + Send + Sync>,
}

type Probe = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

impl Dependency {
    /// A dependency by name, with a probe that says what is wrong with it.
    pub fn new<F, P>(name: &'static str, probe: P) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
        P: Fn() -> F + Send + Sync + 'static,
    {
        Self {
            name,
            probe: Box::new(move || Box::pin(probe())),
        }
    }

    /// A JetStream stream that must be reachable and have a leader.
    pub fn stream(client: async_nats::Client, stream: &str) -> Self {
        Self::backed_by(client, stream.to_owned())
    }

    /// A KV bucket that must be reachable.
    pub fn bucket(client: async_nats::Client, bucket: &'static str) -> Self {
        Self::backed_by(client, format!("KV_{bucket}"))
    }

    fn backed_by(client: async_nats::Client, stream: String) -> Self {
        let context = jetstream::new(client.clone());
        Self::new("nats", move || {
            let (client, context, stream) = (client.clone(), context.clone(), stream.clone());
            async move {
                if !nats::is_connected(&client) {
                    return Err("not connected".to_owned());
                }
                let found = context.get_stream(&stream).await;
                found
                    .map(drop)
                    .map_err(|error| format!("stream {stream}: {error}"))
            }
        })
    }

    async fn check(&self) -> Result<(), String> {
        timeout(PROBE_TIMEOUT, (self.probe)())
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {} s", PROBE_TIMEOUT.as_secs())))
    }
}

/// Health-check loop: probes every dependency once a second and reports the sum, until told to stop.
/// The overall service (the empty name) is what probes and the gateway ask for.
pub async fn watch(reporter: HealthReporter, dependencies: Vec<Dependency>, stop: CancellationToken) {
    let mut missing = Some(String::new());
    loop {
        let started = Instant::now();
        let found = first_missing(&dependencies).await;
        if found != missing {
            match &found {
                None => tracing::info!("ready"),
                Some(reason) => tracing::warn!(%reason, "not ready"),
            }
            let status = if found.is_none() {
                ServingStatus::Serving
            } else {
                ServingStatus::NotServing
            };
            reporter.set_service_status("", status).await;
            missing = found;
        }
        let pause = sleep(PROBE_INTERVAL.saturating_sub(started.elapsed()));
        if stop.run_until_cancelled(pause).await.is_none() {
            reporter.set_service_status("", ServingStatus::NotServing).await;
            return;
        }
    }
}

async fn first_missing(dependencies: &[Dependency]) -> Option<String> {
    for dependency in dependencies {
        if let Err(reason) = dependency.check().await {
            return Some(format!("{}: {reason}", dependency.name));
        }
    }
    None
}
