//! SSRF protection: refuses private addresses at every DNS lookup (against DNS rebinding).

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    vec,
};

use hyper_util::client::legacy::connect::dns::Name;
use tower::{service_fn, util::BoxCloneSyncService};
use url::Url;

/// Whether receivers may have private addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivateAddresses {
    /// Private addresses are allowed, as are requests without TLS.
    Allowed,
    /// Private addresses and requests without TLS are refused.
    Refused,
}

pub type FilteringResolver = BoxCloneSyncService<Name, vec::IntoIter<SocketAddr>, io::Error>;

/// Resolver that drops private addresses, unless they are allowed.
pub fn filtering_resolver(private: PrivateAddresses) -> FilteringResolver {
    BoxCloneSyncService::new(service_fn(move |name: Name| async move {
        let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
        let allowed: Vec<SocketAddr> = found
            .filter(|address| private == PrivateAddresses::Allowed || is_public(address.ip()))
            .collect();
        if allowed.is_empty() {
            return Err(io::Error::other("the name leads to no public address"));
        }
        Ok(allowed.into_iter())
    }))
}

/// Checks the scheme and the host of a URL. [`filtering_resolver`] checks the addresses of a host name.
pub fn ensure_public(url: &Url) -> Result<(), &'static str> {
    if url.scheme() != "https" {
        return Err("its url is not https; WEBHOOKS_ALLOW_PRIVATE allows it");
    }
    // The same host name may be written with a trailing dot.
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    if host == "localhost" || host.ends_with(".localhost") {
        return Err("its url is this very host; WEBHOOKS_ALLOW_PRIVATE allows it");
    }
    let literal: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    if literal.is_some_and(|address| !is_public(address)) {
        return Err("its url is a private address; WEBHOOKS_ALLOW_PRIVATE allows it");
    }
    Ok(())
}

/// Whether an address is on the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

/// Excludes the special-purpose blocks of the IANA registry (RFC 6890).
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || first == 0
        || first >= 240
        || (first == 100 && (64..128).contains(&second))
        || (first == 192 && second == 0 && third == 0)
        || (first == 192 && second == 88 && third == 99)
        || (first == 198 && (18..20).contains(&second));
    !is_special
}

/// Accepts global unicast (2000::/3) except documentation (2001:db8::/32, 3fff::/20), 6to4 (2002::/16) and
/// protocol assignments (2001::/23).
fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let is_global = segments[0] & 0xe000 == 0x2000;
    let is_documentation =
        (segments[0] == 0x2001 && segments[1] == 0x0db8) || (segments[0] == 0x3fff && segments[1] < 0x1000);
    let is_of_protocols = segments[0] == 0x2002 || (segments[0] == 0x2001 && segments[1] < 0x200);
    is_global && !is_documentation && !is_of_protocols
}

#[cfg(test)]
mod tests {
    use tower::Service;

    use super::*;

    fn ensure_each(addresses: &str, is_expected_public: bool) {
        for raw in addresses.split_whitespace() {
            let address = raw.parse().expect("an address");
            assert_eq!(is_public(address), is_expected_public, "{raw}");
        }
    }

    /// Tries special-purpose addresses (IANA's registries for IPv4 and IPv6) and multicast.
    #[test]
    fn our_own_and_private_addresses_are_not_public() {
        let v4 = "0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.127.255.255 127.0.0.1 169.254.169.254 172.16.0.1
            172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1
            203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255";
        let v6 = ":: ::1 ::ffff:10.0.0.1 64:ff9b::a00:1 2001:0:a00:1::1 2001:2::1 2001:1ff::1 2001:db8::1
            2002:a00:1::1 3fff:fff::1 4000::1 fc00::1 fe80::1 ff02::1";
        ensure_each(v4, false);
        ensure_each(v6, false);
    }

    /// Most of these addresses share octets with a special-purpose block.
    #[test]
    fn other_addresses_are_public() {
        let v4 = "8.8.8.8 8.18.0.1 8.64.0.1 9.0.0.9 93.184.215.14 100.63.255.255 100.128.0.1 172.15.0.1
            172.32.0.1 192.0.1.1 192.1.0.1 192.88.98.1 198.17.0.1 198.20.0.1 223.255.255.1";
        let v6 = "2001:200::1 2001:4860:4860::8888 2606:4700:4700::1111 2a00:0:1::1 2a00:db8::1 3fff:1000::1";
        ensure_each(v4, true);
        ensure_each(v6, true);
    }

    #[tokio::test]
    async fn localhost_resolves_only_if_private_addresses_are_allowed() {
        let found = async |private| {
            let name: Name = "localhost".parse().expect("a name");
            filtering_resolver(private).call(name).await.is_ok()
        };
        assert!(found(PrivateAddresses::Allowed).await);
        assert!(!found(PrivateAddresses::Refused).await);
    }
}
