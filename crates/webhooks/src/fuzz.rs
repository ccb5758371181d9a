//! Fuzz targets for addresses that webhooks may reach (docs/testing.md).

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    panic::AssertUnwindSafe,
};

use bolero::check;
use http::Uri;
use serde_json::json;
use site_broker::Endpoints;
use url::{Host, Url};

use crate::{PrivateAddresses, Secrets, WebhookSender, addresses::is_public, sender::tests::client};

const ITERATIONS: usize = 500;
/// Special-purpose addresses (<https://www.iana.org/assignments/iana-ipv4-special-registry>,
/// `iana-ipv6-special-registry`) and multicast.
const SPECIAL_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];
/// Within 2000::/3. Addresses outside of it are all special.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn is_special(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => SPECIAL_V4
            .iter()
            .any(|(block, bits)| (v4.to_bits() ^ block.to_bits()).leading_zeros() >= *bits),
        IpAddr::V6(v6) => {
            v6.to_bits() >> 125 != 1
                || SPECIAL_V6
                    .iter()
                    .any(|(block, bits)| (v6.to_bits() ^ block.to_bits()).leading_zeros() >= *bits)
        }
    }
}

#[test]
fn whatever_an_address_is_it_is_taken_for_public_where_the_registries_have_it_so() {
    check!(name = "webhook-addresses")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let address = match (input.first_chunk::<16>(), input.first_chunk::<4>()) {
                (Some(bytes), _) => IpAddr::from(*bytes),
                (None, Some(bytes)) => IpAddr::from(*bytes),
                (None, None) => return,
            };
            assert_eq!(is_public(address), !is_special(address), "{address}");
        });
}

#[test]
fn whatever_url_is_set_a_webhook_goes_to_the_host_that_was_looked_at_which_is_not_our_own() {
    let client = client(PrivateAddresses::Refused);
    // The client sends nothing, so a panic leaves no broken state.
    let client = AssertUnwindSafe(client);
    check!(name = "webhook-urls")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let raw = String::from_utf8_lossy(input);
            let endpoint = json!([{
                "name": "crm",
                "url": raw,
                "secrets": ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
                "events": ["contact.received"],
            }]);
            let Ok(endpoints) = Endpoints::parse(&endpoint.to_string()) else {
                return;
            };
            let endpoint = endpoints.iter().next().expect("one");
            if WebhookSender::new(endpoint, &client, &Secrets::in_folder(None)).is_err() {
                return;
            }
            let url = Url::parse(&raw).expect("it was taken");
            assert_eq!(url.scheme(), "https");
            assert!(url.username().is_empty() && url.password().is_none());
            match url.host().expect("it was taken") {
                Host::Domain(name) => {
                    let name = name.trim_end_matches('.');
                    assert!(name != "localhost" && !name.ends_with(".localhost"), "{name}");
                    assert!(name.parse::<IpAddr>().is_err(), "{name}");
                }
                Host::Ipv4(v4) => assert!(!is_special(v4.into()), "{v4}"),
                Host::Ipv6(v6) => assert!(!is_special(v6.into()), "{v6}"),
            }
            let uri: Uri = url.as_str().parse().expect("what is taken can be asked for");
            assert_eq!(uri.host(), url.host_str());
            assert_eq!(
                uri.port_u16().unwrap_or(443),
                url.port_or_known_default().expect("it has one")
            );
        });
}
