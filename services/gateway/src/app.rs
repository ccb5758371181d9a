//! App state: what the handlers share, gRPC channels to the services and the limits of uploads.

use crate::{
    forwarding::{Remote, Services},
    settings::Settings,
    uploads::Uploads,
};

/// State of the router.
#[derive(Clone)]
pub struct AppState {
    pub services: Services,
    pub uploads: Uploads,
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
            uploads: Uploads::new(settings),
        }
    }
}
