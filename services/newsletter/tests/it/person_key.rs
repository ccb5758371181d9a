//! The key of person ids changes: the service starts anew with another one, and names the one before it.

use site_broker::SUBSCRIBERS_BUCKET;
use subscribers::{Retention, Subscriber, Subscribers};
use testkit::User;
use time::{Duration, OffsetDateTime};
use tonic::Code;
use uuid::Uuid;
use visitor::{
    EmailAddress, PersonId, PersonKey, PersonKeys,
    token::{Purpose, TokenKey},
};

use crate::{
    ADDRESS, CONFIRMED, PERSON_KEY, REQUESTED, Running, TOKEN_KEY, UNSUBSCRIBED, person, running, running_on,
    token,
};

const NEW_KEY: &str = "the new key for tests, of thirty-two bytes";

/// The service after it started anew.
async fn with_the_new_key(before: Running, names_the_former: bool) -> anyhow::Result<Running> {
    let (key, former) = (PersonKey::new(NEW_KEY)?, PersonKey::new(PERSON_KEY)?);
    running_on(before.nats, |settings| {
        settings.person_keys = PersonKeys {
            person_key: key,
            person_key_former: names_the_former.then_some(former),
        };
    })
    .await
}

fn new_person(email: &str) -> anyhow::Result<PersonId> {
    Ok(PersonKey::new(NEW_KEY)?.person(&EmailAddress::parse(email)?))
}

/// What the bucket holds of whom, as the service finds it.
async fn subscribers(running: &Running) -> anyhow::Result<Subscribers> {
    Ok(Subscribers::open(running.nats.client(User::Operator).await?).await?)
}

/// The first step of a move, after which whoever did it was killed.
async fn begin_to_move(running: &Running) -> anyhow::Result<()> {
    let subscribers = subscribers(running).await?;
    let known = subscribers.find(&person()?).await?;
    let record = known.subscriber.expect("a record");
    let moving = record.moving(new_person(ADDRESS)?, None);
    subscribers
        .write(&known.person, &moving, known.revision, Retention::Forever)
        .await?;
    Ok(())
}

#[tokio::test]
async fn whoever_is_known_under_the_former_key_confirms_leaves_and_comes_back_as_the_same()
-> anyhow::Result<()> {
    let mut before = running().await?;
    before.sign_up().await?;
    let mut running = with_the_new_key(before, true).await?;
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    running.sign_up().await?;
    assert_eq!(running.event_types().await?, [REQUESTED, CONFIRMED]);
    running
        .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
        .await?;
    running.sign_up().await?;
    assert_eq!(
        running.event_types().await?,
        [REQUESTED, CONFIRMED, UNSUBSCRIBED, REQUESTED]
    );
    assert_eq!(running.records().await?, 1, "one person, known once");
    let record = running.record_of(ADDRESS).await?.expect("under the former id");
    assert!(
        record["ended"].is_string(),
        "that they left once stays known: {record}"
    );
    Ok(())
}

#[tokio::test]
async fn whoever_is_new_is_known_under_the_new_key_alone() -> anyhow::Result<()> {
    let mut running = with_the_new_key(running().await?, true).await?;
    running.sign_up().await?;
    assert_eq!(running.record_of(ADDRESS).await?, None);
    let bucket = running.operator.get_key_value(SUBSCRIBERS_BUCKET).await?;
    assert!(bucket.get(new_person(ADDRESS)?.as_str()).await?.is_some());
    Ok(())
}

#[tokio::test]
async fn who_is_met_in_the_middle_of_a_move_is_moved_and_loses_nothing() -> anyhow::Result<()> {
    for names_the_former in [true, false] {
        let mut before = running().await?;
        before.sign_up().await?;
        before.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
        begin_to_move(&before).await?;
        let mut running = with_the_new_key(before, names_the_former).await?;
        running
            .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
            .await?;
        assert_eq!(running.event_types().await?, [REQUESTED, CONFIRMED, UNSUBSCRIBED]);
        let found = subscribers(&running).await?.find(&person()?).await?;
        assert_eq!(found.person, new_person(ADDRESS)?);
        let left = found.subscriber.expect("who left is known");
        assert!(left.unsubscribed_at().is_some() && left.email.is_none());
        let stays = running.record_of(ADDRESS).await?.expect("what leads there");
        assert!(!stays.to_string().contains(ADDRESS), "{stays}");
    }
    Ok(())
}

#[tokio::test]
async fn a_link_of_before_the_move_works_after_the_former_key_is_gone() -> anyhow::Result<()> {
    let mut before = running().await?;
    before.sign_up().await?;
    begin_to_move(&before).await?;
    let mut running = with_the_new_key(before, false).await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    running.sign_up().await?;
    running
        .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
        .await?;
    let events = running.nats.events().await?;
    let people: Vec<_> = events.iter().map(|event| event["subject"].as_str()).collect();
    let (before, now) = (person()?, new_person(ADDRESS)?);
    assert_eq!(
        people,
        [&before, &now, &now].map(|person| Some(person.as_str())),
        "requested, confirmed, unsubscribed"
    );
    Ok(())
}

#[tokio::test]
async fn a_link_to_a_record_that_moved_and_was_erased_does_nothing() -> anyhow::Result<()> {
    let running = running().await?;
    let subscribers = subscribers(&running).await?;
    let email = EmailAddress::parse(ADDRESS)?;
    let record = Subscriber::imported(email, None, OffsetDateTime::now_utc(), Uuid::new_v4());
    let stays = record.forwarding(new_person(ADDRESS)?);
    subscribers
        .write(&person()?, &stays, 0, Retention::Forever)
        .await?;
    let mut running = running;
    running
        .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
        .await?;
    let expires = OffsetDateTime::now_utc() + Duration::HOUR;
    let confirm = TokenKey::new(TOKEN_KEY)?.sign(Purpose::Confirm, &person()?, expires);
    let refused = running.confirm(confirm).await;
    assert_eq!(
        refused.map_err(|status| status.code()),
        Err(Code::InvalidArgument)
    );
    assert!(running.event_types().await?.is_empty());
    Ok(())
}
