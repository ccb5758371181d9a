//! What every use case of the newsletter works with: broker, subscribers and keys.

use std::time::Duration;

use site_broker::Publisher;
use subscribers::Subscribers;
use visitor::{PersonKeys, token::TokenKeys};

/// Dependencies of the use cases.
pub struct Newsletter {
    pub publisher: Publisher,
    pub subscribers: Subscribers,
    /// For how long a sign-up and its link are good.
    pub confirm_within: Duration,
    pub person_keys: PersonKeys,
    pub token_keys: TokenKeys,
}
