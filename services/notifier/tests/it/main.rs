//! The notifier with a real broker, and with mail servers and receivers that fail.

mod dkim;
mod exactly_once;
mod issues;
mod leads;
mod mails;
mod memory;
mod outages;
mod recovery;
mod refusals;
mod running;
mod samples;
mod snapshots;
mod spam;
mod spoofing;
mod start;
mod tls;
mod visitor_mails;
mod webhooks;
mod wire;
