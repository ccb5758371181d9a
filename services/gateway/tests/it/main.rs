//! The gateway as a browser meets it.

mod answers;
mod challenges;
mod collector;
mod connections;
mod crm;
mod dashboards;
mod imap_server;
mod links;
mod log_lines;
mod memory;
mod metrics;
mod newsletter_issues;
mod odd_uploads;
mod personal_data;
mod promtool;
mod remote_failures;
mod site;
mod slow_uploads;
mod stopping;
mod strangers_words;
mod synthetic_check;
mod tls;
mod traces;
mod whole_path;
mod without_scripts;
mod without_services;
