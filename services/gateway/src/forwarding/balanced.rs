//! Client-side balancing: the calls to a service go to all of its pods, which are the addresses that the service's name has (in the
//! cluster, a headless service).

use std::{
    collections::BTreeSet,
    convert::Infallible,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use futures_util::future::{BoxFuture, poll_fn};
use http::{Request, Response};
use site_service::tls::{ClientTls, Connector};
use tokio::{
    net::lookup_host,
    sync::mpsc::{Sender, channel},
    time::{sleep, timeout},
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{
    body::Body,
    transport::{Channel, Endpoint, Uri},
};
use tower::{BoxError, Service, ServiceExt, balance::p2c::Balance, discover::Change, load::Load};

/// Limit of the wait for a first pod, and of the wait for a connection to one.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// HTTP/2 keep-alive: a call has five seconds, and the loss of a node closes no connection.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(2);
const LOOKUP_INTERVAL: Duration = Duration::from_secs(5);
const LOOKUP_RETRY: Duration = Duration::from_millis(500);
/// Changes that are kept until the next call.
const CHANGES: usize = 64;
/// How long after a failure a pod is the last choice. Its calls end soonest, so it would be the first.
const LAST_CHOICE: Duration = Duration::from_secs(1);

type PodChange = Result<Change<SocketAddr, Pod>, Infallible>;
type Pods = Balance<ReceiverStream<PodChange>, Request<Body>>;

/// A service's pods. Of two that are picked at random, the one with fewer calls under way is called.
#[derive(Clone)]
pub struct Balanced(Arc<tokio::sync::Mutex<Pods>>);

impl Balanced {
    /// The pods of the service at this address, looked up from now on; none is connected yet.
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

    /// The pods that this lookup finds for the service at this address.
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
        let pods = Balance::new(ReceiverStream::new(receiver));
        Ok(Self(Arc::new(tokio::sync::Mutex::new(pods))))
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
            let calling = timeout(CONNECT_TIMEOUT, async {
                let mut pods = pods.lock().await;
                poll_fn(|context| pods.poll_ready(context)).await?;
                Ok::<_, BoxError>(pods.call(request))
            });
            calling.await??.await
        })
    }
}

/// Sends the pods that come and go, until the balancer is dropped. The known ones stay while lookups fail.
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
                    Some(Change::Insert(*address, pod))
                });
                for change in gone.chain(new) {
                    let _dropped = changes.send(Ok(change)).await;
                }
                (known, has_failed) = (found, false);
                LOOKUP_INTERVAL
            }
            found => {
                if !has_failed {
                    let error = found.err().map(|error| error.to_string());
                    tracing::warn!(service = %service, error, "the lookup of a service found no pod; trying again");
                }
                has_failed = true;
                LOOKUP_RETRY
            }
        };
        tokio::select! {
            () = sleep(pause) => {}
            () = changes.closed() => {}
        }
    }
}

/// A pod, with the calls under way and its latest failure.
struct Pod {
    channel: Channel,
    calls: Arc<()>,
    failed_at: Arc<Mutex<Option<Instant>>>,
}

impl Pod {
    /// The service's pod at this address; none where no URI can hold the address (IPv6 with a zone).
    fn new(address: SocketAddr, service: &Uri, connector: Connector) -> Option<Self> {
        let endpoint = Endpoint::from_shared(format!("{}://{address}", connector.scheme())).ok()?;
        let endpoint = endpoint
            .origin(service.clone())
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
            .keep_alive_while_idle(true);
        Some(Self {
            channel: Channel::new(connector, endpoint),
            calls: Arc::default(),
            failed_at: Arc::default(),
        })
    }
}

impl Load for Pod {
    /// Whether it failed just now, then its calls under way.
    type Metric = (bool, usize);

    fn load(&self) -> Self::Metric {
        let failed_at = *self.failed_at.lock().unwrap_or_else(PoisonError::into_inner);
        let has_failed = failed_at.is_some_and(|at| at.elapsed() < LAST_CHOICE);
        (has_failed, Arc::strong_count(&self.calls))
    }
}

impl Service<Request<Body>> for Pod {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Body>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (channel, under_way) = (self.channel.clone(), Arc::clone(&self.calls));
        let failed_at = Arc::clone(&self.failed_at);
        Box::pin(async move {
            let answered = channel.oneshot(request).await;
            drop(under_way);
            if answered.is_err() {
                *failed_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            }
            answered.map_err(Into::into)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        net::{Ipv4Addr, TcpListener},
        sync::atomic::{AtomicU32, Ordering},
    };

    use futures_util::future::join_all;
    use site_service::{RequestId, tls::ServerTls};
    use testkit::{CertificateAuthority, MountedCertificate, Usage};
    use tokio::runtime::{Builder, Runtime};
    use tonic::transport::{Server, server::TcpIncoming};
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
    use tower::util::MapRequestLayer;

    use super::*;
    use crate::forwarding::{FORM_CALL_TIMEOUT, ServiceChannel, call, repeated};

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
    async fn ask(service: &HealthClient<ServiceChannel>, lasting: Duration) {
        let until = Instant::now() + lasting;
        let asking = (0..8).map(|_| async {
            while Instant::now() < until {
                let answer = repeated(FORM_CALL_TIMEOUT, |limit| {
                    let mut client = service.clone();
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
    async fn share(service: &HealthClient<ServiceChannel>, processes: &[&Process]) -> bool {
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
    fn in_clear(
        found: impl Fn() -> io::Result<BTreeSet<SocketAddr>> + Send + 'static,
    ) -> HealthClient<ServiceChannel> {
        let uri = Uri::from_static("http://contact:50051");
        let pods = Balanced::over(&uri, None, move || std::future::ready(found()));
        client(pods.expect("an address"), &uri)
    }

    fn client(pods: Balanced, uri: &Uri) -> HealthClient<ServiceChannel> {
        HealthClient::new(ServiceChannel::new(pods, uri.clone()))
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
        let service = client(pods, &uri);

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
        let mut refused = client(pods, &uri);
        let asked = refused.check(HealthCheckRequest::default()).await;
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
        let called = repeated(limit, |limit| {
            attempts.fetch_add(1, Ordering::Relaxed);
            let mut client = service.clone();
            let asked = call(HealthCheckRequest::default(), &RequestId::accept(None), limit);
            async move { client.check(asked).await }
        });
        let started = Instant::now();
        assert!(called.await.is_err());
        assert!(attempts.into_inner() > 1);
        assert!(started.elapsed() < limit / 2, "{:?}", started.elapsed());
    }
}
