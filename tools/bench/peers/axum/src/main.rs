//! The least that taking a form costs in Rust: Axum that only answers, or publishes to JetStream and awaits the ack.
//!
//! It checks no field, limits nobody and logs nothing.

use std::net::SocketAddr;

use async_nats::{
    ConnectOptions,
    jetstream::{self, Context},
};
use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use clap::{Args, Parser};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

/// Takes contact forms, with a broker or without
#[derive(Parser)]
#[command(name = "axum-peer")]
struct Settings {
    /// Address to listen on for HTTP
    #[arg(long, env = "LISTEN")]
    listen: SocketAddr,
    #[command(flatten)]
    broker: Option<BrokerSettings>,
}

#[derive(Args)]
struct BrokerSettings {
    /// Address of the broker; without it forms are only answered
    #[arg(long, env = "NATS_URL", required = false)]
    nats_url: String,
    /// User to log in as
    #[arg(long, env = "NATS_USER", required = false)]
    nats_user: String,
    /// The user's password
    #[arg(long, env = "NATS_PASSWORD", hide_env_values = true, required = false)]
    nats_password: String,
    /// Subject of a stream that forms are published under
    #[arg(long, env = "SUBJECT", required = false)]
    subject: String,
}

#[derive(Deserialize, Serialize)]
struct ContactForm {
    name: String,
    email: String,
    message: String,
}

#[derive(Serialize)]
struct Answer {
    success: bool,
    message: &'static str,
}

const ANSWER: Json<Answer> = Json(Answer {
    success: true,
    message: "Thank you. Your message has reached us.",
});

/// Where forms are published.
#[derive(Clone)]
struct Stream {
    context: Context,
    subject: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let settings = Settings::parse();
    let routes = match settings.broker {
        None => Router::new().route("/api/contact", post(answer)),
        Some(broker) => {
            let stream = connect(broker).await?;
            Router::new()
                .route("/api/contact", post(publish))
                .with_state(stream)
        }
    };
    let listener = TcpListener::bind(settings.listen).await?;
    Ok(axum::serve(listener, routes).await?)
}

async fn connect(broker: BrokerSettings) -> anyhow::Result<Stream> {
    let login = ConnectOptions::with_user_and_password(broker.nats_user, broker.nats_password);
    Ok(Stream {
        context: jetstream::new(login.connect(broker.nats_url).await?),
        subject: broker.subject,
    })
}

async fn answer(Json(_): Json<ContactForm>) -> Json<Answer> {
    ANSWER
}

async fn publish(
    State(stream): State<Stream>,
    Json(form): Json<ContactForm>,
) -> Result<Json<Answer>, StatusCode> {
    let payload = serde_json::to_vec(&form).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    let published = stream.context.publish(stream.subject, payload.into());
    let acknowledged = published.await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    acknowledged.await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    Ok(ANSWER)
}
