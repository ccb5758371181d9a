//! The gateway as browsers and operators use it.

mod answers;
mod challenges;
mod collector;
mod connections;
mod dashboards;
mod imap_server;
mod log_lines;
mod memory;
mod metrics;
mod odd_uploads;
mod personal_data;
mod promtool;
mod renewed_certificates;
mod site;
mod slow_uploads;
mod stopping;
mod strangers_words;
mod synthetic_check;
mod traces;
mod whole_path;
mod without_scripts;
mod without_services;
