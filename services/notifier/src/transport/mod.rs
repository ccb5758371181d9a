//! Sends events: over SMTP to a mail server, or as webhooks to endpoints.

pub mod smtp;
pub mod webhooks;
