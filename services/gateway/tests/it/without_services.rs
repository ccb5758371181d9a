//! A gateway on a free port without any service.

use std::fs;

use clap::Parser;
use gateway::{Service, Settings};
use reqwest::{Client, redirect::Policy};
use site_service::drain::CancellationToken;
use tempfile::TempDir;
use tokio_util::sync::DropGuard;

/// Nothing listens on port 9, "discard" (RFC 863).
const NOBODY: &str = "http://127.0.0.1:9";

/// Folder of a site with two pages.
pub fn small_site() -> anyhow::Result<TempDir> {
    let folder = TempDir::new()?;
    for (file, content) in [
        (
            "_routes.json",
            r#"{ "redirects": [], "notFound": [{ "prefix": "/", "page": "/404.html" }], "variants": [], "scriptHashes": [],
                "styleHashes": [], "trustedTypePolicies": [], "frameSources": [] }"#,
        ),
        ("index.html", "<h1>Home</h1>"),
        ("about.html", "<h1>About</h1>"),
        ("404.html", "<h1>Page not found</h1>"),
        ("main.js", "'use strict';"),
    ] {
        fs::write(folder.path().join(file), content)?;
    }
    Ok(folder)
}

pub struct Gateway {
    pub url: String,
    pub health: String,
    pub client: Client,
    _running: DropGuard,
}

impl Gateway {
    /// Starts the gateway with these additional flags. It trusts `X-Forwarded-For`, as behind one proxy.
    pub async fn start(flags: &[&str]) -> anyhow::Result<Self> {
        Self::start_before(NOBODY, flags).await
    }

    pub async fn start_before(careers_url: &str, flags: &[&str]) -> anyhow::Result<Self> {
        let own_flags = [
            "gateway",
            "--listen=127.0.0.1:0",
            "--health-listen=127.0.0.1:0",
            "--visitor-address-from=x-forwarded-for",
            "--contact-url",
            NOBODY,
            "--newsletter-url",
            NOBODY,
            "--careers-url",
            careers_url,
        ];
        let settings = Settings::try_parse_from(own_flags.iter().chain(flags))?;
        let service = Service::build(settings).await?;
        let at = |port: u16| format!("http://127.0.0.1:{port}");
        let (url, health) = (at(service.port()), at(service.health_port()));
        let stop = CancellationToken::new();
        tokio::spawn(service.run(stop.clone()));
        Ok(Self {
            url,
            health,
            client: Client::builder().redirect(Policy::none()).build()?,
            _running: stop.drop_guard(),
        })
    }

    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(format!("{}{path}", self.url))
    }

    pub fn health(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(format!("{}{path}", self.health))
    }

    pub fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.post(format!("{}{path}", self.url))
    }
}
