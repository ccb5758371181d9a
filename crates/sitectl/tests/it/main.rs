//! The operator's tool as an operator runs it.

mod backup;
mod dead_letters;
mod doctor;
mod documented;
mod operations_page;
mod person;
mod rotation;
mod secrets;
mod setup;
mod subscribers;
mod sweep;
mod tool;
mod webhooks;
