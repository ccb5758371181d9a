//! A real S3 API over a folder.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use clap::Parser;
use hyper::service::{Service, service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use resumes::{ResumeStore, S3Settings};
use s3s::{
    auth::SimpleAuth,
    service::{S3Service, S3ServiceBuilder},
};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::watch, task::JoinSet};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::ports::free_ports;

const BUCKET: &str = "resumes";
const ACCESS_KEY_ID: &str = "local";

/// An S3 server inside this process. Its disk outlives its stops.
pub struct S3 {
    port: u16,
    secret: String,
    folder: PathBuf,
    running: Option<DropGuard>,
    /// Whether answers are held back.
    held: watch::Sender<bool>,
    _temporary: Option<TempDir>,
}

impl S3 {
    /// Starts one on a free port, with the bucket, on a disk that goes away with it.
    pub async fn start() -> anyhow::Result<Self> {
        let [port] = free_ports()?;
        let folder = TempDir::new()?;
        let mut s3 = Self::start_at(port, folder.path()).await?;
        s3._temporary = Some(folder);
        Ok(s3)
    }

    /// Starts one at this port over this folder, with the bucket.
    pub async fn start_at(port: u16, folder: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut s3 = Self {
            port,
            secret: uuid::Uuid::new_v4().simple().to_string(),
            folder: folder.to_owned(),
            running: None,
            held: watch::Sender::new(false),
            _temporary: None,
        };
        s3.resume_from_disk().await?;
        ResumeStore::new(&s3.settings()?).ensure_bucket().await?;
        Ok(s3)
    }

    /// Starts it again after [`Self::stop`], with the same port and disk.
    pub async fn resume_from_disk(&mut self) -> anyhow::Result<()> {
        let files = FileSystem::new(&self.folder).map_err(|error| anyhow::anyhow!("S3: {error:?}"))?;
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY_ID, self.secret.as_str()));
        let listener = TcpListener::bind(("127.0.0.1", self.port))
            .await
            .context("the S3 port")?;
        let stop = CancellationToken::new();
        tokio::spawn(serve(
            listener,
            service.build(),
            self.held.subscribe(),
            stop.clone(),
        ));
        self.running = Some(stop.drop_guard());
        Ok(())
    }

    /// Cuts all connections and takes no more; the disk stays.
    pub async fn stop(&mut self) -> anyhow::Result<()> {
        self.running = None;
        // The port is free again once the server has dropped its listener.
        crate::eventually("S3 stops", std::time::Duration::from_secs(30), async || {
            TcpListener::bind(("127.0.0.1", self.port)).await.ok().map(drop)
        })
        .await
    }

    /// Holds back every answer from now on: what is asked is done, and nobody hears of it.
    pub fn hold_answers(&self) {
        self.held.send_replace(true);
    }

    /// Gives the answers that were held back.
    pub fn release_answers(&self) {
        self.held.send_replace(false);
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Name and credentials by the names of the settings.
    pub fn env(&self) -> [(&'static str, String); 5] {
        [
            ("S3_ENDPOINT", self.url()),
            ("S3_REGION", "us-east-1".to_owned()),
            ("S3_BUCKET", BUCKET.to_owned()),
            ("S3_ACCESS_KEY_ID", ACCESS_KEY_ID.to_owned()),
            ("S3_SECRET_ACCESS_KEY", self.secret.clone()),
        ]
    }

    /// The same as flags.
    pub fn flags(&self) -> Vec<String> {
        self.env()
            .map(|(name, value)| format!("--{}={value}", name.to_lowercase().replace('_', "-")))
            .to_vec()
    }

    /// The same as settings.
    pub fn settings(&self) -> anyhow::Result<S3Settings> {
        #[derive(Parser)]
        struct Flags {
            #[command(flatten)]
            store: S3Settings,
        }
        let program = std::iter::once("s3".to_owned());
        Ok(Flags::try_parse_from(program.chain(self.flags()))?.store)
    }

    /// The stored objects: key and content, by key.
    pub fn objects(&self) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        let bucket = self.folder.join(BUCKET);
        let mut objects = Vec::new();
        collect(&bucket, &bucket, &mut objects)?;
        objects.sort();
        Ok(objects)
    }
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
    held: watch::Receiver<bool>,
    stop: CancellationToken,
) {
    let protocol = Arc::new(Builder::new(TokioExecutor::new()));
    // Dropping the set aborts what is still being served.
    let mut connections = JoinSet::new();
    while let Some(Ok((socket, _))) = stop.run_until_cancelled(listener.accept()).await {
        let (protocol, service, held) = (Arc::clone(&protocol), service.clone(), held.clone());
        let answer = service_fn(move |request| {
            let (service, mut held) = (service.clone(), held.clone());
            async move {
                let answered = Service::call(&service, request).await;
                // The sender is gone where nobody is left to answer.
                let _released = held.wait_for(|held| !held).await;
                answered
            }
        });
        connections.spawn(async move {
            // A client that goes away is no concern of the server's.
            let _ended = protocol.serve_connection(TokioIo::new(socket), answer).await;
        });
    }
}
