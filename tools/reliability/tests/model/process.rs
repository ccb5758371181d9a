//! A service as a process, with its own runtime.

use std::{convert::Infallible, future::poll_fn, pin::pin, task::Poll, time::Duration};

use anyhow::Context as _;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use site_service::detached_calls::detached;
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};
use tokio_util::task::TaskTracker;
use tonic::{body::Body, service::Routes};
use tower::util::{BoxService, MapFuture};

use crate::steps::{Cut, Fate};

/// Time for background tasks of a call to end.
const AFTERWARDS: Duration = Duration::from_millis(3);

const DONE_WITHIN: Duration = Duration::from_secs(30);

type Build<S> = Box<dyn Fn() -> BoxFuture<'static, anyhow::Result<S>>>;

/// Service that starts when it is needed.
pub struct Process<S> {
    build: Build<S>,
    running: Option<(S, Runtime)>,
}

pub type Api = BoxService<Request<Body>, Response<Body>, Infallible>;

impl<S> Process<S> {
    pub fn new(build: Build<S>) -> Self {
        Self { build, running: None }
    }

    /// Drops the runtime, so that even unsent bytes are lost.
    pub fn kill(&mut self) {
        self.running = None;
    }

    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Calls the service. Returns the answer unless the caller leaves.
    pub fn call<T>(
        &mut self,
        fate: Fate,
        routes: impl FnOnce(&S) -> Routes,
        call: impl FnOnce(Api) -> BoxFuture<'static, T>,
    ) -> anyhow::Result<Option<T>> {
        let Fate::CallerLeaves(cut) = fate else {
            return self.run(fate, |service| call(BoxService::new(routes(service))));
        };
        let (service, runtime) = self.started()?;
        let calls = TaskTracker::new();
        let api = BoxService::new(MapFuture::new(routes(service), detached(&calls)));
        runtime.block_on(async {
            let answer = until(Some(cut), call(api)).await;
            calls.close();
            timeout(DONE_WITHIN, calls.wait())
                .await
                .context("a call whose caller left does not end")?;
            tokio::time::sleep(AFTERWARDS).await;
            Ok(answer)
        })
    }

    /// Runs an operation as far as its fate allows.
    pub fn run<'a, T>(
        &'a mut self,
        fate: Fate,
        operation: impl FnOnce(&'a S) -> BoxFuture<'a, T>,
    ) -> anyhow::Result<Option<T>> {
        let cut = match fate {
            Fate::Dies(cut) | Fate::CallerLeaves(cut) => Some(cut),
            Fate::Ends | Fate::EndsAndDies => None,
        };
        let (service, runtime) = self.started()?;
        let done = runtime.block_on(async { timeout(DONE_WITHIN, until(cut, operation(service))).await });
        done.context("an operation does not end")
    }

    fn started(&mut self) -> anyhow::Result<(&S, &Runtime)> {
        if self.running.is_none() {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let service = runtime.block_on((self.build)())?;
            self.running = Some((service, runtime));
        }
        let (service, runtime) = self.running.as_ref().expect("it was just started");
        Ok((service, runtime))
    }
}

async fn until<T>(cut: Option<Cut>, operation: impl Future<Output = T>) -> Option<T> {
    let mut operation = pin!(operation);
    let mut polls = 0;
    poll_fn(|context| {
        let is_last = |polls| cut.is_some_and(|cut| cut.polls == polls);
        if is_last(polls) {
            return Poll::Ready(None);
        }
        polls += 1;
        match operation.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if is_last(polls) && !cut.is_some_and(|cut| cut.is_answered) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
