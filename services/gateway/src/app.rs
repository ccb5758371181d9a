//! App state: what the handlers share, gRPC channels to the services and the limits of uploads.

use std::sync::Arc;

use crate::{
    forwarding::{Remote, Services},
    settings::Settings,
    uploads::Uploads,
};

/// State of the router, of which each request has a copy or more.
#[derive(Clone)]
pub struct AppState {
    pub services: Arc<Services>,
    pub uploads: Arc<Uploads>,
}

impl AppState {
    /// Channels to the services; none is connected yet.
    pub fn new(settings: &Settings) -> Self {
        Self {
            services: Arc::new(Services {
                contact: Remote::new(&settings.contact_url),
                newsletter: Remote::new(&settings.newsletter_url),
                careers: Remote::new(&settings.careers_url),
            }),
            uploads: Arc::new(Uploads::new(settings)),
        }
    }
}
