//! The operator's tool, run as a program.

mod backup;
mod backup_bucket;
mod dead_letters;
mod dns_records;
mod doctor;
mod generated;
mod init;
mod leads;
mod manual;
mod newsletter;
mod person;
mod person_key;
mod preflight;
mod secrets;
mod settings_table;
mod setup;
mod site;
mod subscribers;
mod sweep;
mod tool;
mod webhooks;
