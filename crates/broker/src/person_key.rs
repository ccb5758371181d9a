//! The key of person ids, compared with the fingerprint that `sitectl setup` noted in the metadata of the stream `SITE`.
//!
//! With another key nobody is found: an export would be empty, and an erasure would erase nothing. The metadata needs no right that
//! a service does not have, and a backup of the stream holds it.

use std::collections::HashMap;

use async_nats::{
    Client,
    jetstream::{Context, stream::Config},
};
use site_events::SITE_STREAM;
use site_service::{health::Dependency, nats};
use visitor::PersonKey;

/// The fingerprint's name in the metadata.
const FINGERPRINT: &str = "person-key-fingerprint";

/// The key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PersonKeyError {
    /// This installation has another one.
    #[error("The setting PERSON_KEY is wrong: this installation was set up with another key.")]
    Another,
    /// There is no fingerprint yet.
    #[error("the fingerprint of PERSON_KEY is not noted yet; run `sitectl setup`")]
    NotSetUp,
    /// The broker did not answer, or the stream is not there.
    #[error(
        "stream {SITE_STREAM}, which has the fingerprint of PERSON_KEY, cannot be looked at: {0}; run `sitectl setup`"
    )]
    Unavailable(String),
}

/// Ensures that the key is the one that this installation was set up with.
///
/// # Errors
///
/// If it is another one, or that cannot be known.
pub async fn ensure_person_key(context: &Context, key: &PersonKey) -> Result<(), PersonKeyError> {
    let site = context.get_stream(SITE_STREAM).await;
    let site = site.map_err(|error| PersonKeyError::Unavailable(error.to_string()))?;
    compare(&site.cached_info().config, key)
}

/// The key as a dependency of a service: until it is known to be the right one, the service is not ready.
///
/// # Errors
///
/// If it is another one: the service must not start.
pub async fn person_key_dependency(client: &Client, key: &PersonKey) -> Result<Dependency, PersonKeyError> {
    let (context, key) = (nats::jetstream(client.clone()), key.clone());
    if let Err(another @ PersonKeyError::Another) = ensure_person_key(&context, &key).await {
        return Err(another);
    }
    Ok(Dependency::new("person key", move || {
        let (context, key) = (context.clone(), key.clone());
        async move {
            let ensured = ensure_person_key(&context, &key).await;
            ensured.map_err(|error| error.to_string())
        }
    }))
}

/// Compares the key with the fingerprint in the configuration of `SITE`.
pub(crate) fn compare(site: &Config, key: &PersonKey) -> Result<(), PersonKeyError> {
    match site.metadata.get(FINGERPRINT) {
        Some(known) if *known == key.fingerprint() => Ok(()),
        Some(_) => Err(PersonKeyError::Another),
        None => Err(PersonKeyError::NotSetUp),
    }
}

/// The metadata of `SITE` in an installation with this key.
pub(crate) fn metadata(key: &PersonKey) -> HashMap<String, String> {
    HashMap::from([(FINGERPRINT.to_owned(), key.fingerprint())])
}
