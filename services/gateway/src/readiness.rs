//! Readiness: whether the services can accept every form now.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::State,
    routing::{MethodRouter, get},
};
use futures_util::future::join_all;
use http::StatusCode;
use serde_json::{Value, json};
use site_service::http_health;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::forwarding::{ServiceChannel, Services, repeated};

const HEALTH_CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// Answers that the gateway is ready if every service can store submissions; otherwise lists those that cannot.
pub fn readyz(services: Arc<Services>) -> MethodRouter {
    get(check).with_state(services)
}

async fn check(State(services): State<Arc<Services>>) -> (StatusCode, Json<Value>) {
    let services = [
        ("contact", &services.contact),
        ("newsletter", &services.newsletter),
        ("careers", &services.careers),
    ];
    let checks = services.map(async |(name, channel)| (!is_serving(channel).await).then_some(name));
    let missing: Vec<&str> = join_all(checks).await.into_iter().flatten().collect();
    if missing.is_empty() {
        (StatusCode::OK, http_health::status("ready"))
    } else {
        let body = json!({ "status": "not ready", "missing": missing });
        (StatusCode::SERVICE_UNAVAILABLE, Json(body))
    }
}

async fn is_serving(channel: &ServiceChannel) -> bool {
    let checked = repeated(HEALTH_CHECK_TIMEOUT, |_| {
        let mut client = HealthClient::new(channel.clone());
        async move { client.check(HealthCheckRequest::default()).await }
    });
    let checked = checked.await;
    checked.is_ok_and(|answer| answer.get_ref().status() == ServingStatus::Serving)
}
