//! The gateway as a browser meets it.

mod answers;
mod attacks;
mod challenges;
mod collector;
mod connections;
mod dashboards;
mod documented;
mod links;
mod log_lines;
mod memory;
mod metrics;
mod odd_uploads;
mod openapi;
mod personal_data;
mod published;
mod remote_failures;
mod site;
mod slow_uploads;
mod stopping;
mod synthetic_check;
mod tls;
mod traces;
mod whole_path;
mod without_scripts;
mod without_services;
