//! How an event leaves: over SMTP to a mail server, or as a webhook to an endpoint.

mod root_certificates;
pub mod smtp;
pub mod webhooks;

pub use root_certificates::{RootCertificates, tls_config};
