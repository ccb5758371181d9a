//! App state shared by the handlers: gRPC channels and upload limits.

use std::sync::Arc;

use crate::{forwarding::Services, settings::Settings, uploads::Uploads};

/// State of the router, cloned for each request.
#[derive(Clone)]
pub struct AppState {
    pub services: Arc<Services>,
    pub uploads: Arc<Uploads>,
}

impl AppState {
    /// Creates the channels, not yet connected.
    ///
    /// # Errors
    ///
    /// If a service address and mutual TLS contradict each other, or a TLS file is invalid.
    pub fn new(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self {
            services: Arc::new(Services::new(settings)?),
            uploads: Arc::new(Uploads::new(settings.uploads_at_once)),
        })
    }
}
