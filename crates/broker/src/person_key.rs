//! Check of the key of person ids against its fingerprint. `sitectl setup` stores the fingerprint in the
//! metadata of the stream `SITE`.
//!
//! A wrong key finds nobody: an export would be empty, and an erasure would erase nothing.

use std::collections::HashMap;

use async_nats::{
    Client,
    jetstream::{Context, stream::Config},
};
use site_events::SITE_STREAM;
use site_service::{health::Dependency, nats};
use visitor::PersonKey;

const FINGERPRINT: &str = "person-key-fingerprint";

/// Why the key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PersonKeyError {
    /// The installation has another key.
    #[error("The setting PERSON_KEY is wrong: this installation was set up with another key.")]
    Another,
    /// No fingerprint is stored yet.
    #[error("the fingerprint of PERSON_KEY is not stored yet; run `sitectl setup`")]
    NotSetUp,
    /// The stream could not be read.
    #[error(
        "stream {SITE_STREAM}, which has the fingerprint of PERSON_KEY, cannot be read: {0}; run `sitectl setup`"
    )]
    Unavailable(String),
}

/// Ensures that the installation was set up with this key.
///
/// # Errors
///
/// If the installation has another key or none, or the stream cannot be read.
pub async fn ensure_person_key(context: &Context, key: &PersonKey) -> Result<(), PersonKeyError> {
    let site = context.get_stream(SITE_STREAM).await;
    let site = site.map_err(|error| PersonKeyError::Unavailable(error.to_string()))?;
    compare(&site.cached_info().config, key)
}

/// Dependency on the key: the service is ready only once the key is confirmed.
///
/// # Errors
///
/// If the installation has another key: the service must not start.
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

pub(crate) fn compare(site: &Config, key: &PersonKey) -> Result<(), PersonKeyError> {
    match site.metadata.get(FINGERPRINT) {
        Some(known) if *known == key.fingerprint() => Ok(()),
        Some(_) => Err(PersonKeyError::Another),
        None => Err(PersonKeyError::NotSetUp),
    }
}

pub(crate) fn metadata(key: &PersonKey) -> HashMap<String, String> {
    HashMap::from([(FINGERPRINT.to_owned(), key.fingerprint())])
}
