//! App state: what the handlers share, gRPC channels to the services and the limits of uploads.

use std::sync::Arc;

use crate::{forwarding::Services, settings::Settings, uploads::Uploads};

/// State of the router, of which each request has a copy or more.
#[derive(Clone)]
pub struct AppState {
    pub services: Arc<Services>,
    pub uploads: Arc<Uploads>,
}

impl AppState {
    /// Channels to the services; none is connected yet.
    ///
    /// # Errors
    ///
    /// If an address of a service and mutual TLS do not go together, or a file of that cannot be used.
    pub fn new(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self {
            services: Arc::new(Services::new(settings)?),
            uploads: Arc::new(Uploads::new(settings.uploads_at_once)),
        })
    }
}
