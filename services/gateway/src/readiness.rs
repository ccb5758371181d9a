//! Health checks over HTTP: `/livez` (liveness) and `/readyz` (readiness: every form would be accepted now).

use std::time::Duration;

use axum::{Json, extract::State};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::timeout;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::{app::AppState, forwarding::ServiceChannel};

const HEALTH_CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// The process answers.
pub async fn livez() -> Json<Value> {
    Json(json!({ "status": "alive" }))
}

/// Every service says that it can store what it is given; else names those that cannot.
pub async fn readyz(State(AppState { services, .. }): State<AppState>) -> (StatusCode, Json<Value>) {
    let (contact, newsletter, careers) = tokio::join!(
        is_serving(services.contact.channel),
        is_serving(services.newsletter.channel),
        is_serving(services.careers.channel),
    );
    let missing: Vec<&str> = [
        ("contact", contact),
        ("newsletter", newsletter),
        ("careers", careers),
    ]
    .into_iter()
    .filter_map(|(name, serving)| (!serving).then_some(name))
    .collect();
    if missing.is_empty() {
        (StatusCode::OK, Json(json!({ "status": "ready" })))
    } else {
        let body = json!({ "status": "not ready", "missing": missing });
        (StatusCode::SERVICE_UNAVAILABLE, Json(body))
    }
}

async fn is_serving(channel: ServiceChannel) -> bool {
    let mut client = HealthClient::new(channel);
    let checked = timeout(HEALTH_CHECK_TIMEOUT, client.check(HealthCheckRequest::default())).await;
    matches!(checked, Ok(Ok(answer)) if answer.get_ref().status() == ServingStatus::Serving)
}
