//! App state of the handlers: gRPC channels and upload limits.

use std::sync::Arc;

use crate::{
    forwarding::Services,
    settings::Settings,
    uploads::{UPLOADS_AT_ONCE, Uploads},
};

/// Cloned for each request.
#[derive(Clone)]
pub struct AppState {
    pub services: Arc<Services>,
    pub uploads: Arc<Uploads>,
}

impl AppState {
    /// # Errors
    ///
    /// If an address and mutual TLS contradict each other, or a TLS file is invalid.
    pub fn new(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self {
            services: Arc::new(Services::new(settings)?),
            uploads: Arc::new(Uploads::new(UPLOADS_AT_ONCE)),
        })
    }
}
