//! Publishes bounces of newsletter mails, so that the newsletter service suppresses the address.

use site_broker::{Delivery, PublishError, Publisher};
use site_events::{
    EventData,
    event::{BounceKind, NewsletterBounced},
};
use visitor::EmailAddress;

/// Repeated calls publish one event, because its id is derived from the delivery.
pub async fn publish_bounce(
    publisher: &Publisher,
    delivery: &Delivery,
    mail: &str,
    email: EmailAddress,
    kind: BounceKind,
    reason: &str,
) -> Result<(), PublishError> {
    let bounced = NewsletterBounced {
        email,
        channel: mail.to_owned(),
        reason: reason.to_owned(),
        kind,
    };
    let id = NewsletterBounced::TYPE.id_for(delivery.event_id);
    let published = publisher
        .publish(&delivery.request_id, id, &delivery.person, bounced)
        .await;
    published.map(drop)
}
