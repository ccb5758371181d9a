//! Client-side balancing: the calls to a service go to all of its pods.
//!
//! A pod is each address that the service's name has (in the cluster, a headless service), looked up again and again.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    error::Error,
    io,
    iter::successors,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::future::{BoxFuture, poll_fn};
use http::{Request, Response};
use site_service::tls::{ClientTls, Connector};
use tokio::{
    net::lookup_host,
    sync::{
        Mutex,
        mpsc::{Sender, channel},
    },
    time::{Sleep, sleep, timeout},
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{
    ConnectError,
    body::Body,
    transport::{self, Channel, Endpoint, Uri},
};
use tower::{
    BoxError, Service, ServiceExt,
    balance::p2c::Balance,
    discover::Change,
    load::{CompleteOnResponse, PendingRequests},
};

/// How long it may take until there is a pod to ask, and until one that is asked has a connection: a call that got no further is
/// made again.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// How often a connection is asked whether the other side is still there, also while nothing is sent: a node that was lost
/// ends no connection, and a call has five seconds. One that stands still for less than two keeps its calls.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(2);
/// How often the service's name is looked up.
const LOOKUP_INTERVAL: Duration = Duration::from_secs(5);
/// How soon after a failure.
const LOOKUP_AGAIN: Duration = Duration::from_millis(500);
/// How many pods may come and go before somebody calls the service.
const CHANGES: usize = 64;
/// How long a pod is passed over that was not reached. It would be asked most otherwise, because its calls end soonest.
const REST: Duration = Duration::from_millis(500);

type Pods = Balance<ReceiverStream<PodChange>, Request<Body>>;
type PodChange = Result<Change<SocketAddr, PendingRequests<Pod, CompleteOnResponse>>, Infallible>;

/// A service's pods: of two that are picked at random, the one with fewer calls under way is asked.
#[derive(Clone)]
pub struct Balanced(Arc<Mutex<Pods>>);

impl Balanced {
    /// The pods of the service at this address, which are looked up from now on; none is connected to yet.
    ///
    /// # Errors
    ///
    /// If the address and TLS do not go together: why.
    pub fn new(uri: &Uri, tls: Option<&ClientTls>) -> anyhow::Result<Self> {
        let host: Arc<str> = uri.host().unwrap_or_default().trim_matches(['[', ']']).into();
        let port = uri.port_u16().unwrap_or(80);
        Self::over(uri, tls, move || {
            let host = Arc::clone(&host);
            async move { Ok(lookup_host((&*host, port)).await?.collect()) }
        })
    }

    /// The pods that this finds for the service at this address.
    fn over<F>(
        uri: &Uri,
        tls: Option<&ClientTls>,
        lookup: impl Fn() -> F + Send + 'static,
    ) -> anyhow::Result<Self>
    where
        F: Future<Output = io::Result<BTreeSet<SocketAddr>>> + Send + 'static,
    {
        let connector = Connector::new(uri, tls, CONNECT_TIMEOUT)?;
        let (sender, receiver) = channel(CHANGES);
        tokio::spawn(watch(uri.clone(), connector, lookup, sender));
        Ok(Self(Arc::new(Mutex::new(Balance::new(ReceiverStream::new(
            receiver,
        ))))))
    }
}

impl Service<Request<Body>> for Balanced {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Body>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let pods = Arc::clone(&self.0);
        Box::pin(async move {
            let answering = timeout(CONNECT_TIMEOUT, async {
                let mut pods = pods.lock().await;
                poll_fn(|context| pods.poll_ready(context)).await?;
                Ok::<_, BoxError>(pods.call(request))
            });
            answering.await??.await
        })
    }
}

/// Says which pods came and went, for as long as somebody listens. What is known stays where a lookup fails.
async fn watch<F>(service: Uri, connector: Connector, lookup: impl Fn() -> F, changes: Sender<PodChange>)
where
    F: Future<Output = io::Result<BTreeSet<SocketAddr>>>,
{
    let (mut known, mut has_failed) = (BTreeSet::new(), false);
    while !changes.is_closed() {
        let pause = match lookup().await {
            Ok(found) if !found.is_empty() => {
                let gone = known.difference(&found).copied().map(Change::Remove);
                let new = found.difference(&known);
                let new = new.filter_map(|address| {
                    let pod = Pod::new(*address, &service, connector.clone())?;
                    Some(Change::Insert(
                        *address,
                        PendingRequests::new(pod, CompleteOnResponse::default()),
                    ))
                });
                for change in gone.chain(new) {
                    let _nobody_listens = changes.send(Ok(change)).await;
                }
                (known, has_failed) = (found, false);
                LOOKUP_INTERVAL
            }
            found => {
                if !has_failed {
                    let error = found.err().map(|error| error.to_string());
                    tracing::warn!(
                        service = %service,
                        error,
                        "a service's name was not found; trying again"
                    );
                }
                has_failed = true;
                LOOKUP_AGAIN
            }
        };
        tokio::select! {
            () = sleep(pause) => {}
            () = changes.closed() => {}
        }
    }
}

/// A pod, which is passed over for a while where it was not reached.
struct Pod {
    channel: Channel,
    has_failed: Arc<AtomicBool>,
    rest: Option<Pin<Box<Sleep>>>,
}

impl Pod {
    /// The service's pod at this address. None where it is none that a request can name: one of a single network card.
    fn new(address: SocketAddr, service: &Uri, connector: Connector) -> Option<Self> {
        let endpoint = Endpoint::from_shared(format!("{}://{address}", connector.scheme())).ok()?;
        let endpoint = endpoint
            .origin(service.clone())
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
            .keep_alive_while_idle(true);
        Some(Self {
            channel: Channel::new(connector, endpoint),
            has_failed: Arc::default(),
            rest: None,
        })
    }
}

impl Service<Request<Body>> for Pod {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Body>, BoxError>>;

    /// Ready, unless it has just failed.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if self.has_failed.swap(false, Ordering::Relaxed) {
            self.rest = Some(Box::pin(sleep(REST)));
        }
        if let Some(rest) = &mut self.rest {
            ready!(rest.as_mut().poll(context));
            self.rest = None;
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (channel, has_failed) = (self.channel.clone(), Arc::clone(&self.has_failed));
        Box::pin(async move {
            let answered = channel.oneshot(request).await;
            if answered.is_err() {
                has_failed.store(true, Ordering::Relaxed);
            }
            answered.map_err(|error| match was_sent(&error) {
                true => error.into(),
                false => ConnectError(error.into()).into(),
            })
        })
    }
}

/// Whether the pod may have got something of the call. hyper says of one that its connection ended before: it was cancelled.
fn was_sent(error: &transport::Error) -> bool {
    let mut causes = successors(error.source(), |&cause| cause.source());
    !causes.any(|cause| {
        cause
            .downcast_ref::<hyper::Error>()
            .is_some_and(hyper::Error::is_canceled)
    })
}

#[cfg(test)]
mod tests {
    use std::{
        net::{Ipv4Addr, TcpListener},
        sync::Mutex,
        sync::atomic::AtomicU32,
    };

    use futures_util::future::join_all;
    use site_service::{RequestId, tls::ServerTls};
    use testkit::{CertificateAuthority, MountedCertificate, Usage};
    use tokio::{
        runtime::{Builder, Runtime},
        time::Instant,
    };
    use tonic::transport::{Server, server::TcpIncoming};
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
    use tower::util::MapRequestLayer;

    use super::*;
    use crate::forwarding::{FORM_CALL_TIMEOUT, Remote, call};

    /// Connections are ended while calls go on.
    const MAX_AGE: Duration = Duration::from_millis(700);

    /// One pod of a service, in a runtime of its own, with which it dies.
    struct Process {
        runtime: Runtime,
        calls: Arc<AtomicU32>,
    }

    impl Process {
        fn start(address: SocketAddr, tls: Option<ServerTls>) -> io::Result<Self> {
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()?;
            let calls = Arc::<AtomicU32>::default();
            let counted = Arc::clone(&calls);
            let count = move |request| {
                counted.fetch_add(1, Ordering::Relaxed);
                request
            };
            let _inside = runtime.enter();
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let incoming = TcpIncoming::from(tokio::net::TcpListener::from_std(listener)?);
            let (_, health) = tonic_health::server::health_reporter();
            let server = Server::builder()
                .max_connection_age(MAX_AGE)
                .layer(MapRequestLayer::new(count))
                .add_service(health);
            match tls {
                None => runtime.spawn(server.serve_with_incoming(incoming)),
                Some(tls) => runtime.spawn(server.serve_with_incoming(tls.accept(incoming))),
            };
            Ok(Self { runtime, calls })
        }
    }

    /// Asks for so long as calls that go on beside each other, as visitors do. None may fail.
    async fn ask(service: &Remote, lasting: Duration) {
        let until = Instant::now() + lasting;
        let asking = (0..8).map(|_| async {
            while Instant::now() < until {
                let answer = service.repeated(FORM_CALL_TIMEOUT, |limit| {
                    let mut client = service.client(HealthClient::new);
                    let asked = call(HealthCheckRequest::default(), &RequestId::accept(None), limit);
                    async move { client.check(asked).await }
                });
                answer.await.expect("it is answered");
                sleep(Duration::from_millis(5)).await;
            }
        });
        join_all(asking).await;
    }

    /// Whether each of these has its share of the calls, but for chance and what else the machine does.
    async fn share(service: &Remote, processes: &[&Process]) -> bool {
        processes
            .iter()
            .for_each(|process| process.calls.store(0, Ordering::Relaxed));
        ask(service, Duration::from_secs(2)).await;
        let calls = processes
            .iter()
            .map(|process| process.calls.load(Ordering::Relaxed));
        let calls: Vec<u32> = calls.collect();
        let fair = calls.iter().sum::<u32>() / u32::try_from(calls.len()).expect("few");
        calls.iter().all(|calls| *calls > fair / 4)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn each_pod_gets_its_share_also_one_that_joins_and_no_call_fails_when_one_dies_or_hangs()
    -> anyhow::Result<()> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let address = |last| SocketAddr::from(([127, 0, 0, last], port));
        let known = Arc::new(Mutex::new(BTreeSet::from([1, 2, 3].map(address))));
        let [first, second, third] = [1, 2, 3].map(|last| Process::start(address(last), None));
        let (first, second, third) = (first?, second?, third?);
        let looked_up = Arc::clone(&known);
        let service = in_clear(move || Ok(looked_up.lock().expect("nobody panics with it").clone()));
        assert!(share(&service, &[&first, &second, &third]).await);

        let joined = Process::start(address(4), None)?;
        known.lock().expect("nobody panics with it").insert(address(4));
        ask(&service, LOOKUP_INTERVAL + Duration::from_secs(1)).await;
        assert!(share(&service, &[&first, &second, &third, &joined]).await);

        // Its address is known for a while longer than it lives.
        let dying = async {
            sleep(Duration::from_secs(1)).await;
            second.runtime.shutdown_background();
        };
        tokio::join!(dying, ask(&service, Duration::from_secs(4)));
        known.lock().expect("nobody panics with it").remove(&address(2));
        // As a node that is lost: its connections stay open.
        third
            .runtime
            .spawn(async { std::thread::park_timeout(Duration::from_secs(5)) });
        ask(&service, Duration::from_secs(6)).await;
        assert!(share(&service, &[&first, &third, &joined]).await);
        for process in [first, third, joined] {
            process.runtime.shutdown_background();
        }
        Ok(())
    }

    /// A service without TLS, whose pods this finds.
    fn in_clear(found: impl Fn() -> io::Result<BTreeSet<SocketAddr>> + Send + 'static) -> Remote {
        let uri = Uri::from_static("http://contact:50051");
        let pods = Balanced::over(&uri, None, move || std::future::ready(found()));
        Remote::over(pods.expect("an address"), &uri)
    }

    fn of_gateway(issuer: &CertificateAuthority) -> anyhow::Result<[String; 2]> {
        issuer.issue_for(&["gateway"], vec![Usage::ClientAuth])
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn no_call_fails_while_certificates_and_then_their_authority_are_renewed() -> anyhow::Result<()> {
        let (former, new) = (CertificateAuthority::new()?, CertificateAuthority::new()?);
        let both = former.pem() + &new.pem();
        let contact = MountedCertificate::new(former.issue_to_server(&["contact"])?, &former)?;
        let gateway = MountedCertificate::new(of_gateway(&former)?, &former)?;
        let (tls, port) = (contact.grpc_settings().server()?, testkit::free_ports::<1>()?[0]);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let process = Process::start(address, tls)?;
        let uri = Uri::from_static("https://contact:50051");
        let pods = Balanced::over(&uri, gateway.grpc_settings().client()?.as_ref(), move || {
            std::future::ready(Ok(BTreeSet::from([address])))
        })?;
        let service = Remote::over(pods, &uri);

        // A task of its own, as it writes files: calls go on where the disk takes its time.
        let renewing = tokio::spawn(async move {
            let certificates = |issuer: &CertificateAuthority| {
                anyhow::Ok((issuer.issue_to_server(&["contact"])?, of_gateway(issuer)?))
            };
            for (issuer, trusted) in [
                (&former, former.pem()),
                (&former, both.clone()),
                (&new, both.clone()),
                (&new, new.pem()),
            ] {
                // Longer than a connection lives, so that each state is met.
                sleep(2 * MAX_AGE).await;
                let (to_contact, to_gateway) = certificates(issuer)?;
                contact.renew(to_contact, trusted.clone())?;
                gateway.renew(to_gateway, trusted)?;
            }
            anyhow::Ok((former, new, [contact, gateway]))
        });
        ask(&service, 10 * MAX_AGE).await;
        let (former, new, _still_mounted) = renewing.await??;
        assert!(process.calls.load(Ordering::Relaxed) > 0);

        // Each has the new authority's certificate by now, or the other, which trusts that one alone, would not answer.
        let stranger = MountedCertificate::new(of_gateway(&former)?, &new)?;
        let pods = Balanced::over(&uri, stranger.grpc_settings().client()?.as_ref(), move || {
            std::future::ready(Ok(BTreeSet::from([address])))
        })?;
        let refused = Remote::over(pods, &uri);
        let mut client = refused.client(HealthClient::new);
        let asked = client.check(HealthCheckRequest::default()).await;
        assert!(
            asked.is_err(),
            "who has the former authority's certificate is refused"
        );
        process.runtime.shutdown_background();
        Ok(())
    }

    #[tokio::test]
    async fn a_call_to_a_service_whose_name_nobody_finds_is_made_again_and_fails_before_its_time_is_over() {
        let service = in_clear(|| Err(io::Error::from(io::ErrorKind::NotFound)));
        let attempts = AtomicU32::new(0);
        let limit = Duration::from_secs(60);
        let called = service.repeated(limit, |limit| {
            attempts.fetch_add(1, Ordering::Relaxed);
            let mut client = service.client(HealthClient::new);
            let asked = call(HealthCheckRequest::default(), &RequestId::accept(None), limit);
            async move { client.check(asked).await }
        });
        let started = Instant::now();
        assert!(called.await.is_err());
        assert!(attempts.into_inner() > 1);
        assert!(started.elapsed() < limit / 2, "{:?}", started.elapsed());
    }
}
