//! Readiness: whether every form would be accepted now. One check at a time asks the services, and all who ask meanwhile or
//! soon after are told what it found.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Json,
    extract::State,
    routing::{MethodRouter, get},
};
use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use http::StatusCode;
use serde_json::{Value, json};
use site_service::http_health;
use tokio::time::Instant;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::forwarding::{Remote, Services};

const HEALTH_CHECK_TIMEOUT: Duration = Duration::from_secs(2);
/// How long after its begin a check is worth telling.
const GOOD_FOR: Duration = Duration::from_secs(1);

/// A check that gives the services that are missing.
type Check = Shared<BoxFuture<'static, Vec<&'static str>>>;

/// What `/readyz` answers: every service says that it can store what it is given; else the names of those that cannot.
pub fn readyz(services: Arc<Services>) -> MethodRouter {
    get(tell).with_state(Arc::new(Readiness::new(move || {
        missing_of(services.clone()).boxed()
    })))
}

async fn tell(State(readiness): State<Arc<Readiness>>) -> (StatusCode, Json<Value>) {
    let missing = readiness.check().await;
    if missing.is_empty() {
        (StatusCode::OK, http_health::status("ready"))
    } else {
        let body = json!({ "status": "not ready", "missing": missing });
        (StatusCode::SERVICE_UNAVAILABLE, Json(body))
    }
}

/// The latest check, and how to make another.
struct Readiness {
    begin: Box<dyn Fn() -> BoxFuture<'static, Vec<&'static str>> + Send + Sync>,
    latest: Mutex<Option<(Instant, Check)>>,
}

impl Readiness {
    fn new(begin: impl Fn() -> BoxFuture<'static, Vec<&'static str>> + Send + Sync + 'static) -> Self {
        Self {
            begin: Box::new(begin),
            latest: Mutex::default(),
        }
    }

    fn check(&self) -> Check {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((begun, check)) = &*latest {
            // One that nobody waited for to its end goes on when it is asked for, and would find its time over.
            let good_for = match check.peek() {
                Some(_) => GOOD_FOR,
                None => HEALTH_CHECK_TIMEOUT,
            };
            if begun.elapsed() < good_for {
                return check.clone();
            }
        }
        let check = (self.begin)().shared();
        *latest = Some((Instant::now(), check.clone()));
        check
    }
}

async fn missing_of(services: Arc<Services>) -> Vec<&'static str> {
    let (contact, newsletter, careers) = tokio::join!(
        is_serving(&services.contact),
        is_serving(&services.newsletter),
        is_serving(&services.careers),
    );
    let found = [
        ("contact", contact),
        ("newsletter", newsletter),
        ("careers", careers),
    ];
    let missing = found.into_iter().filter(|(_, serving)| !serving);
    missing.map(|(name, _)| name).collect()
}

async fn is_serving(service: &Remote) -> bool {
    let checked = service.repeated(HEALTH_CHECK_TIMEOUT, |_| {
        let mut client = service.client(HealthClient::new);
        async move { client.check(HealthCheckRequest::default()).await }
    });
    let checked = checked.await;
    checked.is_ok_and(|answer| answer.get_ref().status() == ServingStatus::Serving)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;
    use tokio::time::{advance, sleep};

    use super::*;

    const CHECK: Duration = Duration::from_millis(500);

    /// Checks that take their time, counted.
    fn counted() -> (Readiness, Arc<AtomicUsize>) {
        let count = Arc::<AtomicUsize>::default();
        let begun = count.clone();
        let readiness = Readiness::new(move || {
            begun.fetch_add(1, Ordering::Relaxed);
            sleep(CHECK).map(|()| vec!["contact"]).boxed()
        });
        (readiness, count)
    }

    #[tokio::test(start_paused = true)]
    async fn many_who_ask_at_once_and_soon_after_cost_one_check() {
        let (readiness, count) = counted();
        let told = join_all((0..100).map(|_| readiness.check())).await;
        assert!(told.iter().all(|missing| *missing == ["contact"]));
        advance(GOOD_FOR - CHECK - Duration::from_millis(1)).await;
        readiness.check().await;
        assert_eq!(count.load(Ordering::Relaxed), 1);
        advance(Duration::from_millis(1)).await;
        readiness.check().await;
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_everybody_gave_up_is_not_told_later() {
        let (readiness, count) = counted();
        assert!(readiness.check().now_or_never().is_none());
        advance(HEALTH_CHECK_TIMEOUT).await;
        readiness.check().await;
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }
}
