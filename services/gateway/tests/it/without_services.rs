//! A gateway on a free port whose services are all away.

use clap::Parser;
use gateway::{Service, Settings};
use reqwest::{Client, redirect::Policy};
use site_service::drain::CancellationToken;
use tokio_util::sync::DropGuard;

/// An address where nothing listens (port 9 is "discard", RFC 863).
const NOBODY: &str = "http://127.0.0.1:9";

pub struct Gateway {
    pub url: String,
    pub client: Client,
    _running: DropGuard,
}

impl Gateway {
    /// Starts with these flags on top of a free port and services that are away.
    pub async fn start(flags: &[&str]) -> anyhow::Result<Self> {
        let default_flags = ["gateway", "--listen", "127.0.0.1:0", "--trusted-proxies", "1"];
        let services = [
            "--contact-url",
            NOBODY,
            "--newsletter-url",
            NOBODY,
            "--careers-url",
            NOBODY,
        ];
        let settings = Settings::try_parse_from(default_flags.iter().chain(&services).chain(flags))?;
        let service = Service::build(settings).await?;
        let url = format!("http://127.0.0.1:{}", service.port());
        let stop = CancellationToken::new();
        tokio::spawn(service.run(stop.clone()));
        Ok(Self {
            url,
            client: Client::builder().redirect(Policy::none()).build()?,
            _running: stop.drop_guard(),
        })
    }

    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(format!("{}{path}", self.url))
    }

    pub fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.post(format!("{}{path}", self.url))
    }
}
