//! The operator's tool as an operator runs it.

mod backup;
mod dead_letters;
mod doctor;
mod person;
mod rotation;
mod settings;
mod setup;
mod subscribers;
mod tool;
mod webhooks;
