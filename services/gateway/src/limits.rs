//! How often one address may send a form or a report (GCRA).

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};
use http::StatusCode;

use crate::{address::visitor_address, refusal::Refusal, settings::Settings};

/// How many addresses are remembered one by one. Beyond that, neighbours share a limit,
/// so that a flood from many addresses cannot fill the memory.
const ADDRESSES: usize = 50_000;
/// Forgetting looks at every address, so a flood must not make us do it each time.
const FORGET_EVERY: Duration = Duration::from_secs(1);

/// The limit of one route, held against visitors' addresses.
pub struct Limited {
    limit: RateLimit,
    trusted_proxies: usize,
}

impl Limited {
    /// The limit of the settings.
    pub fn new(settings: &Settings) -> Self {
        Self {
            limit: RateLimit::new(settings.rate_per_minute, settings.rate_burst),
            trusted_proxies: settings.trusted_proxies,
        }
    }
}

/// Lets a request pass, or says when to come back; before anything of its body is read.
pub async fn admit(
    State(limited): State<Arc<Limited>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let address = visitor_address(request.headers(), peer, limited.trusted_proxies);
    match limited.limit.admit(address) {
        Ok(()) => next.run(request).await,
        Err(wait) => Refusal::of(StatusCode::TOO_MANY_REQUESTS)
            .retry_after(wait)
            .into_response(),
    }
}

/// The limit itself.
pub struct RateLimit {
    limiter: DefaultKeyedRateLimiter<IpAddr>,
    forgot: Mutex<Instant>,
}

impl RateLimit {
    /// `per_minute` submissions a minute on average, `burst` of them at once.
    pub fn new(per_minute: NonZeroU32, burst: NonZeroU32) -> Self {
        let quota = Quota::per_minute(per_minute).allow_burst(burst);
        Self {
            limiter: RateLimiter::keyed(quota),
            forgot: Mutex::new(Instant::now()),
        }
    }

    /// Counts one submission, or says how long to wait.
    pub fn admit(&self, address: IpAddr) -> Result<(), Duration> {
        if self.limiter.len() >= ADDRESSES && self.may_forget() {
            self.limiter.retain_recent();
        }
        let crowded = self.limiter.len() >= ADDRESSES;
        self.limiter
            .check_key(&household(address, crowded))
            .map_err(|refused| refused.wait_time_from(DefaultClock::default().now()))
    }

    fn may_forget(&self) -> bool {
        let mut forgot = self.forgot.lock().unwrap_or_else(PoisonError::into_inner);
        let due = forgot.elapsed() >= FORGET_EVERY;
        if due {
            *forgot = Instant::now();
        }
        due
    }
}

/// Whom a limit is held against: an IPv4 address or an IPv6 /64 (what one customer
/// gets); when crowded, the /16 or /32 around it.
fn household(address: IpAddr, crowded: bool) -> IpAddr {
    match (address, crowded) {
        (IpAddr::V4(v4), false) => v4.into(),
        (IpAddr::V4(v4), true) => Ipv4Addr::from_bits(v4.to_bits() & 0xffff_0000).into(),
        (IpAddr::V6(v6), false) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
        (IpAddr::V6(v6), true) => Ipv6Addr::from_bits(v6.to_bits() >> 96 << 96).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit() -> RateLimit {
        let n = |n| NonZeroU32::new(n).expect("not zero");
        RateLimit::new(n(10), n(5))
    }

    #[test]
    fn the_sixth_submission_at_once_is_told_how_long_to_wait() {
        let (limit, address) = (limit(), IpAddr::from([203, 0, 113, 9]));
        for _ in 0..5 {
            assert_eq!(limit.admit(address), Ok(()));
        }
        let wait = limit.admit(address).expect_err("the burst is used up");
        assert!(
            wait > Duration::from_secs(5) && wait <= Duration::from_secs(6),
            "{wait:?}"
        );
        assert_eq!(limit.admit(IpAddr::from([203, 0, 113, 10])), Ok(()));
    }

    #[test]
    fn one_customer_with_many_ipv6_addresses_has_one_limit() {
        let limit = limit();
        let from = |host: u16| limit.admit(IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, host]));
        let admitted = (0..20).filter(|host| from(*host).is_ok()).count();
        assert_eq!(admitted, 5);
    }

    #[test]
    fn a_flood_of_addresses_does_not_fill_the_memory() {
        let limit = limit();
        for n in 0..200_000_u32 {
            let _admitted = limit.admit(IpAddr::from(n.to_be_bytes()));
        }
        assert!(limit.limiter.len() < ADDRESSES + 100, "{}", limit.limiter.len());
    }
}
