//! What the handlers share: channels to the services, and the limit of uploads.

use std::{sync::Arc, time::Duration};

use opentelemetry::metrics::UpDownCounter;
use site_service::meters;
use tokio::sync::Semaphore;

use crate::{
    forwarding::{Services, channel},
    settings::Settings,
};

/// What the handlers share.
#[derive(Clone)]
pub struct App {
    pub services: Services,
    pub uploads: Uploads,
}

/// How many uploads are read at the same time, and for how long.
#[derive(Clone)]
pub struct Uploads {
    pub at_once: Arc<Semaphore>,
    pub time: Duration,
    pub waiting: UpDownCounter<i64>,
    pub active: UpDownCounter<i64>,
}

impl Uploads {
    fn new(at_once: usize, time: Duration) -> Self {
        let meter = meters::meter();
        let limit = meter
            .u64_gauge("site.uploads.limit")
            .with_unit("{upload}")
            .with_description("Uploads that may be read at once")
            .build();
        limit.record(at_once as u64, &[]);
        let count = |name, description| {
            let counter = meter.i64_up_down_counter(name).with_unit("{upload}");
            counter.with_description(description).build()
        };
        Self {
            at_once: Arc::new(Semaphore::new(at_once)),
            time,
            waiting: count("site.uploads.waiting", "Uploads that wait for their turn"),
            active: count("site.uploads.active", "Uploads that are being read"),
        }
    }
}

impl App {
    /// Channels to the services; none is connected yet.
    pub fn new(settings: &Settings) -> Self {
        Self {
            services: Services {
                contact: channel(&settings.contact_url),
                newsletter: channel(&settings.newsletter_url),
                careers: channel(&settings.careers_url),
            },
            uploads: Uploads::new(settings.uploads_at_once, settings.upload_time),
        }
    }
}
