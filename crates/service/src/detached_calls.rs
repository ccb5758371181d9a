//! gRPC middleware against cancellation: a call that was begun runs to its end, whether or not its caller waits for it.
//!
//! A server drops a handler at whatever it awaits when the caller goes away or its deadline (`grpc-timeout`) passes, so
//! that a step may be done and the one that belongs to it may not: an event stored, say, and its record not written.
//!
//! The caller is answered all the same before its deadline passes: that the call is not done, and when to come again.

use std::{
    panic::resume_unwind,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderMap, Request, Response};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use tower::{Layer, Service};

use crate::{drain::Drain, status};

/// What is left of the caller's time when it is answered, for the answer's way.
const ANSWER_MARGIN: Duration = Duration::from_millis(500);
/// How long a call without a deadline may take: longer than any that we make.
const NO_DEADLINE: Duration = Duration::from_secs(60 * 60);

/// The calls under way, each in a task of its own.
#[derive(Debug, Clone)]
pub struct DetachedCalls {
    tasks: TaskTracker,
    drain: Drain,
}

impl DetachedCalls {
    /// None yet. Each will find this drain among its extensions.
    pub fn new(drain: Drain) -> Self {
        Self {
            tasks: TaskTracker::new(),
            drain,
        }
    }

    /// Waits for the calls that were begun. None may begin afterwards.
    pub async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl<S> Layer<S> for DetachedCalls {
    type Service = DetachedService<S>;

    fn layer(&self, inner: S) -> DetachedService<S> {
        DetachedService {
            inner,
            calls: self.clone(),
        }
    }
}

/// Runs each call of a service as a task of [`DetachedCalls`].
#[derive(Debug, Clone)]
pub struct DetachedService<S> {
    inner: S,
    calls: DetachedCalls,
}

impl<S, B, R> Service<Request<B>> for DetachedService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    R: Default + Send + 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        request.extensions_mut().insert(self.calls.drain.clone());
        let time = answer_time(request.headers());
        let call = self.calls.tasks.spawn(self.inner.call(request));
        Box::pin(async move {
            match timeout(time, call).await {
                // A task that nobody aborts ends by itself or by a panic.
                Ok(done) => done.unwrap_or_else(|error| resume_unwind(error.into_panic())),
                Err(_) => {
                    tracing::warn!(
                        answer.seconds = time.as_secs(),
                        "a call goes on after its caller was told that it is not done"
                    );
                    Ok(status::too_late().into_http())
                }
            }
        })
    }
}

/// How long the call may take until it is answered: its deadline but for a margin, which is no more than half of it.
fn answer_time(headers: &HeaderMap) -> Duration {
    let given = headers.get("grpc-timeout").and_then(|raw| raw.to_str().ok());
    given.and_then(parse_timeout).map_or(NO_DEADLINE, |time| {
        time.saturating_sub(ANSWER_MARGIN).max(time / 2)
    })
}

/// The gRPC over HTTP/2 protocol, "Timeout": at most eight digits and a unit.
fn parse_timeout(raw: &str) -> Option<Duration> {
    let (value, unit) = raw.split_at_checked(raw.len().checked_sub(1)?)?;
    let value: u32 = value.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(60 * 60) * value,
        "M" => Duration::from_secs(60) * value,
        "S" => Duration::from_secs(value.into()),
        "m" => Duration::from_millis(value.into()),
        "u" => Duration::from_micros(value.into()),
        "n" => Duration::from_nanos(value.into()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn answered_within(timeout: &'static str) -> Duration {
        let timeout = (
            "grpc-timeout".parse().expect("a name"),
            HeaderValue::from_static(timeout),
        );
        answer_time(&HeaderMap::from_iter([timeout]))
    }

    #[test]
    fn the_answer_comes_before_the_caller_gives_up() {
        assert_eq!(answered_within("5S"), Duration::from_millis(4500));
        assert_eq!(answered_within("4999999u"), Duration::from_micros(4_499_999));
        assert_eq!(answered_within("3M"), Duration::from_millis(179_500));
        assert_eq!(answered_within("300m"), Duration::from_millis(150));
    }

    #[test]
    fn what_is_no_timeout_is_none() {
        for none in ["", "5", "S", "5x", "-5S", "\u{fc}"] {
            assert_eq!(parse_timeout(none), None, "{none}");
        }
        assert_eq!(answer_time(&HeaderMap::new()), NO_DEADLINE);
    }
}
