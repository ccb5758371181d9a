//! Publishes bounces of newsletter mails, so that the newsletter service suppresses the address.

use site_broker::{Delivery, PublishError, Publisher};
use site_events::{
    Channel, Event, EventData,
    event::{
        BounceKind, NewsletterBounced, NewsletterConfirmed, NewsletterRequested, NewsletterUnsubscribed,
    },
    sending::SENDING_NAME,
};
use visitor::EmailAddress;

/// Publishes what the mail server said of a subscriber's address; once, however often it is called. Of mails outside
/// the newsletter there is nothing to tell.
///
/// # Errors
///
/// If the event is not known to be stored.
pub async fn publish_bounce(
    publisher: &Publisher,
    channel: Channel,
    delivery: &Delivery,
    words: &str,
) -> Result<(), PublishError> {
    let Some(email) = subscriber(channel, delivery) else {
        return Ok(());
    };
    let bounced = NewsletterBounced {
        email,
        channel: channel.name().to_owned(),
        reason: words.to_owned(),
        kind: BounceKind::Hard,
    };
    let id = NewsletterBounced::TYPE.id_for(delivery.event_id);
    let published = publisher
        .publish(&delivery.request_id, id, &delivery.person, bounced)
        .await;
    published.map(drop)
}

/// Publishes what became of an issue's mail to a subscriber; once, however often it is called.
///
/// # Errors
///
/// If the event is not known to be stored.
pub async fn publish_issue_bounce(
    publisher: &Publisher,
    delivery: &Delivery,
    email: EmailAddress,
    kind: BounceKind,
    words: &str,
) -> Result<(), PublishError> {
    let bounced = NewsletterBounced {
        email,
        channel: SENDING_NAME.to_owned(),
        reason: words.to_owned(),
        kind,
    };
    let id = NewsletterBounced::TYPE.id_for(delivery.event_id);
    let published = publisher
        .publish(&delivery.request_id, id, &delivery.person, bounced)
        .await;
    published.map(drop)
}

fn subscriber(channel: Channel, delivery: &Delivery) -> Option<EmailAddress> {
    let email = match channel {
        Channel::NewsletterConfirmation => delivery
            .event()
            .map(|event: Event<NewsletterRequested>| event.data.email),
        Channel::NewsletterWelcome => delivery
            .event()
            .map(|event: Event<NewsletterConfirmed>| event.data.email),
        Channel::NewsletterGoodbye => delivery
            .event()
            .map(|event: Event<NewsletterUnsubscribed>| event.data.email),
        Channel::SalesLead
        | Channel::ContactAcknowledgement
        | Channel::RecruiterApplication
        | Channel::ApplicationAcknowledgement => return None,
    };
    // It was read to write the mail: an event that cannot be read does not come here.
    email.ok()
}
