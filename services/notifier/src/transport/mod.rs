//! How an event leaves: over SMTP to a mail server, or as a webhook to an endpoint.

pub mod smtp;
pub mod webhooks;
