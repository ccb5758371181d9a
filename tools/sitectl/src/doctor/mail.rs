//! Whether the mail server is there.

use std::time::Duration;

use tokio::{net::TcpStream, time::timeout};

use crate::finding::Finding;

/// How long a connection may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to the server, where one is named.
pub async fn examine(host: Option<&str>, port: u16) -> Finding {
    let remedy = "give SMTP_HOST and SMTP_PORT as the notifier has them";
    let Some(host) = host else {
        let says = "not looked at, because SMTP_HOST is not given";
        return Finding::warning("mail server", says, remedy);
    };
    let what = format!("mail server {host}:{port}");
    match timeout(TIMEOUT, TcpStream::connect((host, port))).await {
        Ok(Ok(_)) => Finding::ok(what, "takes connections"),
        Ok(Err(error)) => Finding::wrong(what, error.to_string(), remedy),
        Err(_) => Finding::wrong(what, "takes no connection in time", remedy),
    }
}
