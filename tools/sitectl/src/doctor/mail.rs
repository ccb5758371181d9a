//! Checks that the mail server accepts connections.

use std::time::Duration;

use tokio::{net::TcpStream, time::timeout};

use crate::finding::Finding;

const TIMEOUT: Duration = Duration::from_secs(10);

pub async fn examine(host: Option<&str>, port: u16) -> Finding {
    let remedy = "set SMTP_HOST and SMTP_PORT as for the notifier";
    let Some(host) = host else {
        let says = "not checked, because SMTP_HOST is not set";
        return Finding::warning("mail server", says, remedy);
    };
    let what = format!("mail server {host}:{port}");
    match timeout(TIMEOUT, TcpStream::connect((host, port))).await {
        Ok(Ok(_)) => Finding::ok(what, "accepts connections"),
        Ok(Err(error)) => Finding::wrong(what, error.to_string(), remedy),
        Err(_) => Finding::wrong(what, "accepts no connection in time", remedy),
    }
}
