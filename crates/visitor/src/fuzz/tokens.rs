//! Fuzz targets for tokens in links.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bolero::check;
use hmac::Mac;
use serde::Deserialize;
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    PersonId,
    person::keyed,
    token::{Purpose, TokenKey},
};

const SECRET: &str = "a token key of thirty-two bytes or more";
const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);
const PURPOSES: [Purpose; 3] = [Purpose::Confirm, Purpose::Unsubscribe, Purpose::Synthetic];
const ITERATIONS: usize = 1000;

fn key() -> TokenKey {
    TokenKey::new(SECRET).expect("a long key")
}

#[derive(Deserialize)]
struct Claim {
    expires: i64,
}

fn expires(token: &str) -> Option<OffsetDateTime> {
    let claims = URL_SAFE_NO_PAD.decode(token.split_once('.')?.0).ok()?;
    let claim: Claim = serde_json::from_slice(&claims).ok()?;
    OffsetDateTime::from_unix_timestamp(claim.expires).ok()
}

#[test]
fn whatever_stands_in_a_link_is_a_token_only_where_we_would_sign_it_so_letter_by_letter() {
    check!(name = "tokens")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let token = String::from_utf8_lossy(input);
            let takers = PURPOSES.map(|purpose| key().verify(&token, purpose, NOW).ok());
            assert!(takers.iter().flatten().count() <= 1, "good for two purposes");
            for (purpose, person) in PURPOSES.into_iter().zip(takers) {
                if let Some(person) = person {
                    let expires = expires(&token).expect("a token says until when it is good");
                    assert!(expires > NOW);
                    assert_eq!(key().sign(purpose, &person, expires), token);
                }
            }
        });
}

/// Signed claims that another release or a bug could produce.
#[test]
fn whatever_we_signed_is_read_or_refused_and_good_for_one_purpose_until_it_expires() {
    check!(name = "claims")
        .with_iterations(ITERATIONS)
        .for_each(|claims: &[u8]| {
            let tag = keyed(SECRET).expect("a long key").chain_update(claims).finalize();
            let [claims, tag] = [claims, &tag.into_bytes()].map(|part| URL_SAFE_NO_PAD.encode(part));
            let token = format!("{claims}.{tag}");
            let takers = PURPOSES.map(|purpose| key().verify(&token, purpose, NOW).ok());
            assert!(takers.iter().flatten().count() <= 1, "good for two purposes");
            for (purpose, person) in PURPOSES.into_iter().zip(takers) {
                let Some(person) = person else { continue };
                assert!(PersonId::try_from(person.to_string()).is_ok());
                let expires = expires(&token).expect("it was read");
                assert!(key().verify(&token, purpose, expires).is_err(), "good for ever");
                assert!(key().verify(&token, purpose, expires - Duration::SECOND).is_ok());
            }
        });
}
