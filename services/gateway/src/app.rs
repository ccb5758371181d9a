//! App state: what the handlers share, gRPC channels to the services and the limit of uploads.

use std::{sync::Arc, time::Duration};

use opentelemetry::metrics::UpDownCounter;
use site_service::metrics;
use tokio::sync::Semaphore;

use crate::{
    forwarding::{Remote, Services},
    settings::Settings,
};

/// State of the router.
#[derive(Clone)]
pub struct AppState {
    pub services: Services,
    pub uploads: UploadLimit,
}

/// Upload limit: how many uploads are read at the same time, and for how long.
#[derive(Clone)]
pub struct UploadLimit {
    pub permits: Arc<Semaphore>,
    pub timeout: Duration,
    pub waiting: UpDownCounter<i64>,
    pub active: UpDownCounter<i64>,
}

impl UploadLimit {
    fn new(max_uploads: usize, timeout: Duration) -> Self {
        let meter = metrics::meter();
        let limit = meter
            .u64_gauge("site.uploads.limit")
            .with_unit("{upload}")
            .with_description("Uploads that may be read at once")
            .build();
        limit.record(max_uploads as u64, &[]);
        let count = |name, description| {
            let counter = meter.i64_up_down_counter(name).with_unit("{upload}");
            counter.with_description(description).build()
        };
        Self {
            permits: Arc::new(Semaphore::new(max_uploads)),
            timeout,
            waiting: count("site.uploads.waiting", "Uploads that wait for their turn"),
            active: count("site.uploads.active", "Uploads that are being read"),
        }
    }
}

impl AppState {
    /// Channels to the services; none is connected yet.
    pub fn new(settings: &Settings) -> Self {
        Self {
            services: Services {
                contact: Remote::new(&settings.contact_url),
                newsletter: Remote::new(&settings.newsletter_url),
                careers: Remote::new(&settings.careers_url),
            },
            uploads: UploadLimit::new(settings.uploads_at_once, settings.upload_timeout),
        }
    }
}
