//! What a subscriber's record has in the bucket that is not as it is here: an address in every record, and the state's fields beside
//! the others.
//!
//! Releases run beside each other while one replaces the other, and one may be rolled back: what a later one wrote,
//! fields or a whole state, is kept here as it is and written back with every change.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use visitor::EmailAddress;

use crate::state::State;

/// What stands in the place of an address that is not kept. The release before this one wants an address in every record,
/// and reads it as one; no mail can go there (RFC 2606, 2).
pub(crate) const NO_ADDRESS: &str = "address-deleted@invalid";
/// The field of [`State::Pending`] that may be left out.
const ASKING: &str = "asking";

/// Where a subscription stands, and what a later release notes beside, kept through every step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub(crate) struct Standing {
    pub state: State,
    pub unknown_fields: Map<String, Value>,
}

impl From<State> for Standing {
    fn from(state: State) -> Self {
        Self {
            state,
            unknown_fields: Map::new(),
        }
    }
}

impl TryFrom<Map<String, Value>> for Standing {
    type Error = serde_json::Error;

    fn try_from(mut fields: Map<String, Value>) -> Result<Self, Self::Error> {
        let state = State::deserialize(&fields)?;
        let known = state.fields();
        // Only some sign-ups have a key: one that is left over beside another state would be read as theirs later.
        let is_left_over = |name: &str| name == ASKING && state != State::Unknown;
        fields.retain(|name, _| !known.contains_key(name) && !is_left_over(name));
        Ok(Self {
            state,
            unknown_fields: fields,
        })
    }
}

impl From<Standing> for Map<String, Value> {
    fn from(standing: Standing) -> Self {
        let mut fields = standing.unknown_fields;
        fields.extend(standing.state.fields());
        fields
    }
}

pub(crate) fn write_address<S: Serializer>(
    email: &Option<EmailAddress>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(email.as_ref().map_or(NO_ADDRESS, EmailAddress::as_str))
}

pub(crate) fn read_address<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<EmailAddress>, D::Error> {
    let email = Option::<EmailAddress>::deserialize(deserializer)?;
    Ok(email.filter(|email| email.as_str() != NO_ADDRESS))
}
