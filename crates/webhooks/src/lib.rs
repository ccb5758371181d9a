//! Webhooks: turns an event into requests, by a format or a recipe, and interprets the answers.

mod addresses;
mod client;
mod outgoing;
mod recipe;
mod sender;
mod sending_error;
mod settings;
mod signed;
mod slack;

pub use self::{
    addresses::PrivateAddresses,
    client::{Answer, Exchange, WebhookClient},
    outgoing::{Outgoing, sample, samples},
    recipe::{DELIVERY_TIMEOUT, Secrets},
    sender::{InvalidEndpoint, WebhookSender},
    sending_error::SendingError,
    settings::WebhookSettings,
};
