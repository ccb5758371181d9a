//! App state: what the handlers share, gRPC channels to the services and the limits of uploads.

use std::sync::Arc;

use tonic::transport::Uri;

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
    ///
    /// # Errors
    ///
    /// If an address of a service and mutual TLS do not go together, or a file of that cannot be used.
    pub fn new(settings: &Settings) -> anyhow::Result<Self> {
        let tls = settings.grpc_tls.client()?;
        let remote = |setting: &str, uri: &Uri| {
            let remote = Remote::new(uri, tls.as_ref());
            remote.map_err(|reason| anyhow::anyhow!("The setting {setting} is wrong: \"{uri}\": {reason}"))
        };
        Ok(Self {
            services: Arc::new(Services {
                contact: remote("CONTACT_URL", &settings.contact_url)?,
                newsletter: remote("NEWSLETTER_URL", &settings.newsletter_url)?,
                careers: remote("CAREERS_URL", &settings.careers_url)?,
            }),
            uploads: Arc::new(Uploads::new(settings)),
        })
    }
}
