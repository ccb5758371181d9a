//! Publishes bounces of newsletter mails, so that the newsletter service suppresses the address.

use site_broker::{Delivery, PublishError, Publisher};
use site_events::{
    EventData,
    event::{BounceKind, NewsletterBounced},
};
use visitor::EmailAddress;

/// Publishes what the mail server said of a subscriber's address, to which this kind of mail did not go; once, however often it is
/// called.
///
/// # Errors
///
/// If the event is not known to be stored.
pub async fn publish_bounce(
    publisher: &Publisher,
    delivery: &Delivery,
    mail: &str,
    email: EmailAddress,
    kind: BounceKind,
    words: &str,
) -> Result<(), PublishError> {
    let bounced = NewsletterBounced {
        email,
        channel: mail.to_owned(),
        reason: words.to_owned(),
        kind,
    };
    let id = NewsletterBounced::TYPE.id_for(delivery.event_id);
    let published = publisher
        .publish(&delivery.request_id, id, &delivery.person, bounced)
        .await;
    published.map(drop)
}
