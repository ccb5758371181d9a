//! Updates a subscriber's record by compare-and-set.

use subscribers::{Subscriber, SubscriberStoreError};
use visitor::PersonId;

use crate::newsletter::Newsletter;

/// Takes the record one step further; gives it as it is then, or `None` where there is no such step. Where another
/// request changed it in the same moment, the step is taken from there.
///
/// # Errors
///
/// If the record cannot be read or is not known to be stored, or others changed it twice meanwhile.
pub async fn update(
    newsletter: &Newsletter,
    person: &PersonId,
    step: impl Fn(Subscriber) -> Option<Subscriber>,
) -> Result<Option<Subscriber>, SubscriberStoreError> {
    match try_update(newsletter, person, &step).await {
        Err(SubscriberStoreError::Conflict) => try_update(newsletter, person, &step).await,
        done => done,
    }
}

/// Writes the record where it changed. What the caller publishes follows either way, under an id of
/// the subscription's own: a step that failed half-way is completed by repeating it.
async fn try_update(
    newsletter: &Newsletter,
    person: &PersonId,
    step: impl Fn(Subscriber) -> Option<Subscriber>,
) -> Result<Option<Subscriber>, SubscriberStoreError> {
    let known = newsletter.subscribers.read(person).await?;
    let next = known.subscriber.clone().and_then(step);
    if let Some(next) = &next
        && known.subscriber.as_ref() != Some(next)
    {
        newsletter.write(person, next, known.revision).await?;
    }
    Ok(next)
}
