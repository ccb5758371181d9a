//! In-process S3 server that fails on demand.

mod access;
mod fault;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use anyhow::Context;
use clap::Parser;
use hyper::{Method, Request, Response, StatusCode, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use resumes::S3Settings;
use s3s::{
    Body, HttpError, HttpResponse,
    auth::SimpleAuth,
    service::{S3Service, S3ServiceBuilder},
};
use s3s_fs::FileSystem;
use site_service::drain;
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::watch, task::JoinSet};
use tokio_util::sync::{CancellationToken, DropGuard};

pub use self::fault::S3Fault;
use self::{
    access::{BACKUP_USER, BACKUPS, Rights},
    fault::Impediment,
};
use crate::{ports::free_ports, program_flags::flags_of};

const BUCKET: &str = "resumes";
const ACCESS_KEY_ID: &str = "local";

/// S3 server. Its disk survives a stop.
pub struct S3 {
    port: u16,
    secret: String,
    /// Folder of buckets and metadata files.
    pub folder: PathBuf,
    running: Option<DropGuard>,
    fault: watch::Sender<S3Fault>,
    /// Each open connection holds a reference, so that they can be counted.
    connections: Arc<()>,
    _temporary: Option<TempDir>,
}

impl S3 {
    /// Starts a server with both buckets on a temporary disk.
    pub async fn start() -> anyhow::Result<Self> {
        let [port] = free_ports()?;
        let folder = TempDir::new()?;
        let mut s3 = Self::start_at(port, folder.path()).await?;
        s3._temporary = Some(folder);
        Ok(s3)
    }

    /// Starts a server with both buckets over this folder.
    pub async fn start_at(port: u16, folder: &Path) -> anyhow::Result<Self> {
        for bucket in [BUCKET, BACKUPS] {
            fs::create_dir_all(folder.join(bucket))?;
        }
        let mut s3 = Self {
            port,
            secret: uuid::Uuid::new_v4().simple().to_string(),
            folder: folder.to_owned(),
            running: None,
            fault: watch::Sender::default(),
            connections: Arc::default(),
            _temporary: None,
        };
        s3.resume_from_disk().await?;
        Ok(s3)
    }

    /// Restarts the server with the same port and disk.
    pub async fn resume_from_disk(&mut self) -> anyhow::Result<()> {
        let files = FileSystem::new(&self.folder).map_err(|error| anyhow::anyhow!("S3: {error:?}"))?;
        let mut service = S3ServiceBuilder::new(files);
        let mut users = SimpleAuth::from_single(ACCESS_KEY_ID, self.secret.as_str());
        users.register(BACKUP_USER.to_owned(), self.secret.as_str().into());
        service.set_auth(users);
        service.set_access(Rights);
        let listener = TcpListener::bind(("127.0.0.1", self.port))
            .await
            .context("the S3 port")?;
        let stop = CancellationToken::new();
        tokio::spawn(serve(
            listener,
            service.build(),
            self.fault.subscribe(),
            Arc::downgrade(&self.connections),
            stop.clone(),
        ));
        self.running = Some(stop.drop_guard());
        Ok(())
    }

    /// Stops the server and cuts all connections.
    pub async fn stop(&mut self) -> anyhow::Result<()> {
        self.running = None;
        // The port is free once the server has dropped its listener.
        crate::eventually("S3 stops", std::time::Duration::from_secs(30), async || {
            TcpListener::bind(("127.0.0.1", self.port)).await.ok().map(drop)
        })
        .await
    }

    /// Sets the fault, also for requests in progress.
    pub fn fault(&self, fault: S3Fault) {
        self.fault.send_replace(fault);
    }

    /// Open connections.
    pub fn open_connections(&self) -> usize {
        Arc::strong_count(&self.connections) - 1
    }

    /// Endpoint URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Settings as environment variables.
    pub fn env(&self) -> [(&'static str, String); 5] {
        [
            ("S3_ENDPOINT", self.url()),
            ("S3_REGION", "us-east-1".to_owned()),
            ("S3_BUCKET", BUCKET.to_owned()),
            ("S3_ACCESS_KEY_ID", ACCESS_KEY_ID.to_owned()),
            ("S3_SECRET_ACCESS_KEY", self.secret.clone()),
        ]
    }

    /// Settings as flags.
    pub fn flags(&self) -> Vec<String> {
        flags_of(self.env())
    }

    /// Settings of the backup bucket and user, as environment variables.
    pub fn backups_env(&self) -> [(&'static str, String); 5] {
        let [(_, endpoint), (_, region), .., (_, secret)] = self.env();
        [
            ("BACKUP_S3_ENDPOINT", endpoint),
            ("BACKUP_S3_REGION", region),
            ("BACKUP_S3_BUCKET", BACKUPS.to_owned()),
            ("BACKUP_S3_ACCESS_KEY_ID", BACKUP_USER.to_owned()),
            ("BACKUP_S3_SECRET_ACCESS_KEY", secret),
        ]
    }

    /// Settings.
    pub fn settings(&self) -> anyhow::Result<S3Settings> {
        #[derive(Parser)]
        struct Flags {
            #[command(flatten)]
            store: S3Settings,
        }
        let program = std::iter::once("s3".to_owned());
        Ok(Flags::try_parse_from(program.chain(self.flags()))?.store)
    }

    /// Stored résumés by key.
    pub fn objects(&self) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        self.objects_of(BUCKET)
    }

    /// Objects of a bucket by key.
    pub fn objects_of(&self, bucket: &str) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        let bucket = self.folder.join(bucket);
        let mut objects = Vec::new();
        collect(&bucket, &bucket, &mut objects)?;
        objects.sort();
        Ok(objects)
    }
}

/// Serves a folder at port 9000 to one user, until SIGTERM.
///
/// # Errors
///
/// If the folder or the port cannot be used.
pub async fn serve_folder(folder: &Path, user: &str, secret: &str) -> anyhow::Result<()> {
    let files = FileSystem::new(folder).map_err(|error| anyhow::anyhow!("S3: {error:?}"))?;
    let mut service = S3ServiceBuilder::new(files);
    service.set_auth(SimpleAuth::from_single(user, secret));
    let listener = TcpListener::bind("0.0.0.0:9000").await?;
    let fault = watch::Sender::default();
    let connections = Arc::default();
    let stop = drain::on_signal()?;
    serve(
        listener,
        service.build(),
        fault.subscribe(),
        Arc::downgrade(&connections),
        stop,
    )
    .await;
    Ok(())
}

fn collect(bucket: &Path, folder: &Path, objects: &mut Vec<(String, Vec<u8>)>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(bucket, &path, objects)?;
        } else {
            let key = path.strip_prefix(bucket)?.to_string_lossy().into_owned();
            objects.push((key, fs::read(&path)?));
        }
    }
    Ok(())
}

async fn serve(
    listener: TcpListener,
    service: S3Service,
    fault: watch::Receiver<S3Fault>,
    connected: Weak<()>,
    stop: CancellationToken,
) {
    let protocol = Arc::new(Builder::new(TokioExecutor::new()));
    let mut connections = JoinSet::new();
    while let Some(Ok((socket, _))) = stop.run_until_cancelled(listener.accept()).await {
        let (protocol, service) = (Arc::clone(&protocol), service.clone());
        let connected = connected.upgrade();
        let cut = CancellationToken::new();
        let impediment = Impediment {
            fault: fault.clone(),
            cut: cut.clone(),
        };
        let answer = service_fn(move |request| answer(service.clone(), request, impediment.clone()));
        connections.spawn(cut.run_until_cancelled_owned(async move {
            // Clients may disconnect at any time.
            let _ended = protocol.serve_connection(TokioIo::new(socket), answer).await;
            drop(connected);
        }));
        // Frees the memory of closed connections.
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(
    service: S3Service,
    request: Request<Incoming>,
    mut impediment: Impediment,
) -> Result<HttpResponse, HttpError> {
    if impediment.fault() == S3Fault::Unavailable {
        return Ok(empty(StatusCode::SERVICE_UNAVAILABLE));
    }
    let method = request.method().clone();
    let mut request = request.map(Body::from);
    if method == Method::PUT {
        request = request.map(|body| impediment.clone().body(body, true));
    }
    let answered = service.call(request).await;
    impediment.answers_are_given().await;
    match method {
        Method::PUT if impediment.fault() == S3Fault::FailAfterStoring => {
            Ok(empty(StatusCode::INTERNAL_SERVER_ERROR))
        }
        Method::GET => answered.map(|answer| answer.map(|body| impediment.body(body, false))),
        _ => answered,
    }
}

fn empty(status: StatusCode) -> HttpResponse {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = status;
    answer
}
