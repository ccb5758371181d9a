//! Rate limit by client address (GCRA) for forms, reports and the links in mails.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};

use crate::{address::network, api_error::ApiError, limits::Limit, settings::Settings};

/// Bounds memory in a flood. At this number, addresses with a full quota are evicted. If too many remain, addresses
/// of one network share a quota.
const MAX_TRACKED_ADDRESSES: usize = 50_000;
/// Eviction scans all addresses, so it must not run on each request.
const EVICTION_INTERVAL: Duration = Duration::from_secs(1);
/// Ratio of an address's limit for mailed links to its limit for forms.
const LINKS_PER_FORM: NonZeroU32 = NonZeroU32::new(60).expect("not zero");

pub struct RateLimit {
    limiter: DefaultKeyedRateLimiter<IpAddr>,
    last_eviction: Mutex<Instant>,
}

impl RateLimit {
    pub fn of_forms(settings: &Settings) -> Self {
        Self::new(settings.rate_per_minute, settings.rate_burst)
    }

    /// Limit for mailed links. Mail providers unsubscribe their users from a few addresses in bursts (RFC 8058), so
    /// a burst may use the quota of a whole minute.
    pub fn of_links(settings: &Settings) -> Self {
        let per_minute = settings.rate_per_minute.saturating_mul(LINKS_PER_FORM);
        Self::new(per_minute, per_minute)
    }

    fn new(per_minute: NonZeroU32, burst: NonZeroU32) -> Self {
        let quota = Quota::per_minute(per_minute).allow_burst(burst);
        Self {
            limiter: RateLimiter::keyed(quota),
            last_eviction: Mutex::new(Instant::now()),
        }
    }

    /// # Errors
    ///
    /// If the address exceeds its limit; the error says when to retry.
    pub fn check(&self, address: IpAddr) -> Result<(), ApiError> {
        self.admit(address)
            .map_err(|wait| Limit::Rate.exceeded().retry_after(wait))
    }

    fn admit(&self, address: IpAddr) -> Result<(), Duration> {
        if self.limiter.len() >= MAX_TRACKED_ADDRESSES && self.eviction_is_due() {
            self.limiter.retain_recent();
            self.limiter.shrink_to_fit();
        }
        let crowded = self.limiter.len() >= MAX_TRACKED_ADDRESSES;
        self.limiter
            .check_key(&rate_limit_key(address, crowded))
            .map_err(|refused| refused.wait_time_from(DefaultClock::default().now()))
    }

    fn eviction_is_due(&self) -> bool {
        let mut last_eviction = self.last_eviction.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last_eviction.elapsed() >= EVICTION_INTERVAL;
        if due {
            *last_eviction = Instant::now();
        }
        due
    }
}

/// Returns the visitor's network, or the surrounding /16 (IPv4) or /32 (IPv6) if too many addresses are tracked.
fn rate_limit_key(address: IpAddr, crowded: bool) -> IpAddr {
    match address {
        _ if !crowded => network(address),
        IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() & 0xffff_0000).into(),
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 96 << 96).into(),
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
    fn the_sixth_submission_at_once_gets_a_retry_after() {
        let (limit, address) = (limit(), IpAddr::from([203, 0, 113, 9]));
        for _ in 0..5 {
            assert_eq!(limit.admit(address), Ok(()));
        }
        let wait = limit.admit(address).expect_err("the burst is used up");
        assert!(
            wait > Duration::from_secs(5) && wait <= Duration::from_secs(6),
            "{wait:?}"
        );
        let refused = limit.check(address).expect_err("the burst is used up");
        assert_eq!(refused.headers()["retry-after"], "6", "in seconds");
        assert_eq!(limit.admit(IpAddr::from([203, 0, 113, 10])), Ok(()));
        let neighbour = |host: u16| limit.admit(IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, host]));
        assert_eq!((0..20).filter(|host| neighbour(*host).is_ok()).count(), 5);
    }

    #[test]
    fn a_flood_of_addresses_does_not_fill_the_memory() {
        let limit = limit();
        for n in 0..200_000_u32 {
            let _admitted = limit.admit(IpAddr::from(n.to_be_bytes()));
        }
        assert!(
            limit.limiter.len() < MAX_TRACKED_ADDRESSES + 100,
            "{}",
            limit.limiter.len()
        );
    }

    #[tokio::test]
    async fn addresses_with_a_refilled_limit_are_dropped() {
        const VISITORS: u32 = 50_000;
        let n = |n| NonZeroU32::new(n).expect("not zero");
        // The quota refills within a millisecond.
        let limit = RateLimit::new(n(60_000), n(5));
        let visit = |n: u32| limit.admit(IpAddr::from(n.to_be_bytes())).expect("the first");
        (0..VISITORS).for_each(visit);
        tokio::time::sleep(EVICTION_INTERVAL + Duration::from_millis(100)).await;
        visit(VISITORS);
        assert!(limit.limiter.len() < 10, "{}", limit.limiter.len());
    }
}
