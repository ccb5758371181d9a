//! Minimal Axum peer that publishes forms to JetStream, stores résumés and serves files, without limits and logs.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

use async_nats::{
    ConnectOptions,
    jetstream::{self, Context},
};
use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, Multipart, State},
    http::{HeaderName, StatusCode, header::CONTENT_TYPE},
    routing::post,
    serve::ListenerExt,
};
use clap::Parser;
use resumes::{ResumeKey, ResumeStore, S3Settings};
use serde::{Deserialize, Serialize};
use tokio::{fs::File, io::AsyncWriteExt, net::TcpListener};
use tower_http::services::ServeDir;
use uuid::Uuid;

#[derive(Parser)]
struct Settings {
    /// Address to listen on for HTTP
    #[arg(long, env = "LISTEN")]
    listen: SocketAddr,
    /// Folder of files to serve; a compressed copy ends in `.gz`
    #[arg(long, env = "SITE_DIR", default_value = "frontends/dist")]
    site_dir: PathBuf,
    /// Address of the broker
    #[arg(long, env = "NATS_URL")]
    nats_url: String,
    /// User of the broker
    #[arg(long, env = "NATS_USER")]
    nats_user: String,
    /// The user's password
    #[arg(long, env = "NATS_PASSWORD", hide_env_values = true)]
    nats_password: String,
    /// Subject to publish forms to, which a stream must have
    #[arg(long, env = "SUBJECT")]
    subject: String,
    #[command(flatten)]
    store: S3Settings,
}

#[derive(Deserialize, Serialize)]
struct ContactForm {
    name: String,
    email: String,
    message: String,
}

type Answer = ([(HeaderName, &'static str); 1], &'static str);

const ANSWER: Answer = (
    [(CONTENT_TYPE, "application/json")],
    r#"{"success":true,"message":"Thank you. Your message has reached us."}"#,
);

#[derive(Clone)]
struct Peer {
    broker: Context,
    subject: String,
    store: ResumeStore,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let settings = Settings::parse();
    let login = ConnectOptions::with_user_and_password(settings.nats_user, settings.nats_password);
    let peer = Peer {
        broker: jetstream::new(login.connect(settings.nats_url).await?),
        subject: settings.subject,
        store: ResumeStore::new(&settings.store),
    };
    let routes = Router::new()
        .route("/api/contact", post(contact))
        .route("/api/career-application", post(apply))
        .layer(DefaultBodyLimit::disable())
        .fallback_service(ServeDir::new(settings.site_dir).precompressed_gzip())
        .with_state(peer);
    let listener = TcpListener::bind(settings.listen)
        .await?
        .tap_io(|socket| drop(socket.set_nodelay(true)));
    Ok(axum::serve(listener, routes).await?)
}

async fn contact(State(peer): State<Peer>, Json(form): Json<ContactForm>) -> Result<Answer, StatusCode> {
    answer(peer.publish(&form).await)
}

async fn apply(State(peer): State<Peer>, form: Multipart) -> Result<Answer, StatusCode> {
    answer(store(&peer, form).await)
}

fn answer(stored: anyhow::Result<()>) -> Result<Answer, StatusCode> {
    stored
        .map(|()| ANSWER)
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

async fn store(peer: &Peer, mut form: Multipart) -> anyhow::Result<()> {
    let resume = tempfile::NamedTempFile::new()?;
    let mut fields = BTreeMap::new();
    while let Some(mut field) = form.next_field().await? {
        let name = field.name().unwrap_or_default().to_owned();
        if name != "resume" {
            fields.insert(name, field.text().await?);
            continue;
        }
        let mut file = File::create(resume.path()).await?;
        while let Some(chunk) = field.chunk().await? {
            file.write_all(&chunk).await?;
        }
        file.flush().await?;
    }
    let key = ResumeKey::known(format!("resumes/{}/resume.pdf", Uuid::new_v4()));
    peer.store.put(&key, resume.path(), "application/pdf").await?;
    peer.publish(&fields).await
}

impl Peer {
    async fn publish(&self, form: &impl Serialize) -> anyhow::Result<()> {
        let payload = serde_json::to_vec(form)?.into();
        let published = self.broker.publish(self.subject.clone(), payload).await?;
        published.await?;
        Ok(())
    }
}
