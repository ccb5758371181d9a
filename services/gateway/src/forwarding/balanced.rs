//! Client-side load balancing over a service's pods. Their addresses come from DNS. In the cluster, the name is that
//! of a headless Service.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use futures_util::future::BoxFuture;
use http::{Request, Response};
use site_service::tls;
use tokio::{net::lookup_host, sync::watch, time::sleep};
use tonic::{
    body::Body,
    transport::{Channel, ClientTlsConfig, Uri},
};
use tower::{BoxError, Service, ServiceExt};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval of HTTP/2 pings. They detect a lost node, which closes no connection, within the call timeout of 5 s.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(2);
const LOOKUP_INTERVAL: Duration = Duration::from_secs(2);
/// Time after a failure in which a pod is chosen last. Failing calls end fast, so the pod would look least loaded.
const LAST_CHOICE: Duration = Duration::from_secs(1);

/// Rotates calls among equally loaded pods.
static TURN: AtomicUsize = AtomicUsize::new(0);

/// Channel that sends each call to the least loaded pod.
#[derive(Clone)]
pub struct Balanced(watch::Receiver<Pods>);

type Pods = BTreeMap<SocketAddr, Arc<Pod>>;

/// Pod of a service. Each active call holds an `Arc` of it, which [`load`] counts.
struct Pod {
    channel: Channel,
    failed_at: Mutex<Option<Instant>>,
}

impl Balanced {
    /// Starts to look up the pods. Connects at the first call.
    ///
    /// # Errors
    ///
    /// If the scheme of `uri` does not match `tls`.
    pub fn new(uri: &Uri, tls: Option<&ClientTlsConfig>) -> anyhow::Result<Self> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let tls = tls.map(|tls| tls.clone().domain_name(host));
        tls::endpoint(uri, tls.clone())?;
        let (sender, pods) = watch::channel(Pods::new());
        tokio::spawn(look_up(uri.clone(), tls, sender));
        Ok(Self(pods))
    }

    fn next(&self) -> Option<Arc<Pod>> {
        let pods = self.0.borrow();
        let turn = TURN.fetch_add(1, Ordering::Relaxed) % pods.len().max(1);
        let in_turn = pods.values().cycle().skip(turn).take(pods.len());
        in_turn.min_by_key(|pod| load(pod)).cloned()
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
        let pod = self.next();
        Box::pin(async move {
            let pod = pod.ok_or("no pod of the service is known")?;
            let answered = pod.channel.clone().oneshot(request).await;
            if answered.is_err() {
                *pod.failed_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            }
            answered.map_err(Into::into)
        })
    }
}

/// Load to compare pods by: first whether the pod failed recently, then its active calls.
fn load(pod: &Arc<Pod>) -> (bool, usize) {
    let failed_at = *pod.failed_at.lock().unwrap_or_else(PoisonError::into_inner);
    let has_failed = failed_at.is_some_and(|at| at.elapsed() < LAST_CHOICE);
    (has_failed, Arc::strong_count(pod))
}

/// Repeats the DNS lookup. If it fails, the known pods stay.
async fn look_up(service: Uri, tls: Option<ClientTlsConfig>, pods: watch::Sender<Pods>) {
    let host = service.host().unwrap_or_default().trim_matches(['[', ']']);
    let port = service.port_u16().unwrap_or(80);
    while !pods.is_closed() {
        match lookup_host((host, port)).await {
            Ok(found) => update(&pods, found, &service, tls.as_ref()),
            Err(error) => tracing::warn!(service = %service, %error, "the lookup of a service failed"),
        }
        sleep(LOOKUP_INTERVAL).await;
    }
}

/// Replaces the pods by those of the addresses `found`. Known pods keep their connections.
fn update(
    pods: &watch::Sender<Pods>,
    found: impl Iterator<Item = SocketAddr>,
    service: &Uri,
    tls: Option<&ClientTlsConfig>,
) {
    pods.send_modify(|known| {
        let pods = found.filter_map(|address| {
            let pod = known.get(&address).cloned();
            Some((address, pod.or_else(|| Pod::at(address, service, tls))?))
        });
        *known = pods.collect();
    });
}

impl Pod {
    /// Returns `None` for an IPv6 address with a zone, which a URI cannot contain.
    fn at(address: SocketAddr, service: &Uri, tls: Option<&ClientTlsConfig>) -> Option<Arc<Self>> {
        let uri = format!("{}://{address}", service.scheme_str()?).parse().ok()?;
        let endpoint = tls::endpoint(&uri, tls.cloned()).ok()?;
        let endpoint = endpoint
            .connect_timeout(CONNECT_TIMEOUT)
            .origin(service.clone())
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
            .keep_alive_while_idle(true);
        Some(Arc::new(Self {
            channel: endpoint.connect_lazy(),
            failed_at: Mutex::default(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        net::{Ipv4Addr, TcpListener},
        sync::atomic::AtomicU32,
    };

    use futures_util::future::join_all;
    use site_service::RequestId;
    use tokio::runtime::{Builder, Runtime};
    use tonic::transport::{Server, server::TcpIncoming};
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
    use tower::util::MapRequestLayer;

    use super::*;
    use crate::forwarding::{FORM_CALL_TIMEOUT, ServiceChannel, call, repeated};

    /// Age limit of connections, so short that connections end during calls.
    const MAX_AGE: Duration = Duration::from_millis(700);

    /// Pod in its own runtime, which the test can stop.
    struct Process {
        runtime: Runtime,
        calls: Arc<AtomicU32>,
    }

    impl Process {
        fn start(address: SocketAddr) -> io::Result<Self> {
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
            runtime.spawn(server.serve_with_incoming(incoming));
            Ok(Self { runtime, calls })
        }
    }

    /// Makes concurrent calls, and fails if one fails.
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

    /// Whether each pod gets more than a quarter of a fair share of calls: chance and load make shares uneven.
    async fn share(service: &HealthClient<ServiceChannel>, processes: &[&Process]) -> bool {
        for process in processes {
            process.calls.store(0, Ordering::Relaxed);
        }
        ask(service, Duration::from_secs(2)).await;
        let count = |process: &&Process| process.calls.load(Ordering::Relaxed);
        let calls: Vec<u32> = processes.iter().map(count).collect();
        let fair = calls.iter().sum::<u32>() / u32::try_from(calls.len()).expect("few");
        calls.iter().all(|calls| *calls > fair / 4)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn calls_are_balanced_and_survive_a_dead_or_hanging_pod() -> anyhow::Result<()> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let address = |last| SocketAddr::from(([127, 0, 0, last], port));
        let [first, second, third] = [1, 2, 3].map(|last| Process::start(address(last)));
        let (first, second, third) = (first?, second?, third?);
        let uri = Uri::from_static("http://contact:50051");
        let (pods, found) = watch::channel(Pods::new());
        let service = HealthClient::new(ServiceChannel::of_client(Balanced(found), uri.clone()));
        let looked_up = |hosts: &[u8]| {
            update(&pods, hosts.iter().copied().map(address), &uri, None);
        };
        looked_up(&[1, 2, 3]);
        assert!(share(&service, &[&first, &second, &third]).await);

        let joined = Process::start(address(4))?;
        looked_up(&[1, 2, 3, 4]);
        assert!(share(&service, &[&first, &second, &third, &joined]).await);

        // A pod dies, but DNS still lists its address for a while.
        let dying = async {
            sleep(Duration::from_secs(1)).await;
            second.runtime.shutdown_background();
        };
        tokio::join!(dying, ask(&service, Duration::from_secs(4)));
        looked_up(&[1, 3, 4]);
        // Simulates a pod on a lost node: it hangs, and its connections stay open.
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
}
