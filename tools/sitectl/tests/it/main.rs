//! The operator's tool as an operator runs it.

mod backup;
mod backup_bucket;
mod dead_letters;
mod dns_records;
mod doctor;
mod documented;
mod leads;
mod manual;
mod newsletter;
mod operations_page;
mod person;
mod person_key;
mod progress;
mod restore_drill;
mod rotation;
mod secrets;
mod setup;
mod subscribers;
mod sweep;
#[path = "../../examples/settings/table.rs"]
mod table;
mod tool;
mod webhooks;
