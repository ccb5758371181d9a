//! The notifier as its neighbours meet it.

mod dkim;
mod mails;
mod outages;
mod refusals;
mod running;
mod snapshots;
mod spam;
mod webhooks;
mod wire;
