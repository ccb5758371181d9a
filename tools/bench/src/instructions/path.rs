//! The paths that are counted, and what is sent on each.

use std::{fs, net::Ipv4Addr, time::Duration};

use anyhow::ensure;
use bytes::Bytes;
use clap::ValueEnum;
use reqwest::{Client, header};
use tempfile::TempDir;
use testkit::{
    Nats, S3, User,
    measure::{self, pdf, upload_client},
    root,
};
use tokio::time::sleep;

use super::{
    callgrind::{Work, count_alone, count_site},
    figures::Cost,
};

const PERSON_KEY: &str = "--person-key=a person key of thirty-two bytes or more";
/// The first address of a visitor. All that follow are as long, as is all that differs between two pieces of work.
const VISITORS: Ipv4Addr = Ipv4Addr::new(10, 100, 100, 100);
const FORMS: Work = Work {
    warm_up: 60,
    windows: 8,
    in_each: 20,
};
const UPLOADS: Work = Work {
    warm_up: 2,
    windows: 4,
    in_each: 1,
};
const RESUME_MEGABYTES: u32 = 2;
const PAGES: Work = Work {
    warm_up: 10,
    windows: 12,
    in_each: 4,
};
/// After which the gateway reads a page from the disk again (`site_files`, answer cache).
const UNTIL_READ_AGAIN: Duration = Duration::from_millis(120);
/// As the home page and its compressed form are, about.
const PAGE_BYTES: usize = 60_000;
const COMPRESSED_BYTES: usize = 14_000;
const ROUTES: &str = r#"{
    "redirects": [{ "from": "/services/retail", "to": "/services/retail-wholesale-high-risk" }],
    "notFound": [{ "prefix": "/", "page": "/404.html" }],
    "variants": [{ "path": "/", "parameter": "variant=impact", "page": "index.impact.html" }],
    "scriptHashes": ["sha256-abc="],
    "styleHashes": ["sha256-def="],
    "trustedTypePolicies": ["default"],
    "frameSources": ["https://maps.example"]
}"#;
const MAILS: u32 = 30;

/// A path from what comes in to what goes out.
#[derive(Clone, Copy, ValueEnum)]
pub enum Path {
    /// A contact form, from the gateway over the contact service to the broker's acknowledgement
    Accept,
    /// A megabyte of an application, from the gateway over the careers service's spool to the store
    Upload,
    /// A page that the gateway reads, and sends twice
    Page,
    /// A mail to sales, rendered and built
    Mail,
}

impl Path {
    /// What it is called in tables, files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Upload => "upload",
            Self::Page => "page",
            Self::Mail => "mail",
        }
    }

    /// What one form, megabyte, page or mail costs.
    ///
    /// # Errors
    ///
    /// If something does not start, or work is refused.
    pub async fn count(self) -> anyhow::Result<Cost> {
        match self {
            Self::Accept => accept().await,
            Self::Upload => upload().await,
            Self::Page => page().await,
            Self::Mail => mail().await,
        }
    }
}

async fn accept() -> anyhow::Result<Cost> {
    let nats = Nats::start().await?;
    let flags = [nats.flags(User::Contact), vec![PERSON_KEY.to_owned()]].concat();
    let http = Client::new();
    let count = count_site(Path::Accept.name(), &flags, FORMS, async |site, number| {
        send_form(&http, site, number).await
    });
    Ok(count.await?.per(FORMS.in_each))
}

async fn send_form(http: &Client, site: &str, number: u32) -> anyhow::Result<()> {
    let form = format!(
        r#"{{"name":"Ada Lovelace","email":"ada.{number:09}@example.org","message":"How many instructions a form?"}}"#
    );
    let request = http
        .post(format!("{site}/api/contact"))
        .header(header::CONTENT_TYPE, "application/json")
        .header("x-forwarded-for", visitor(number).to_string());
    let answer = request.body(form).send().await?;
    let (status, words) = (answer.status(), answer.text().await?);
    ensure!(status.is_success(), "a form was answered {status}: {words}");
    Ok(())
}

/// Of a hundred in each network.
fn visitor(number: u32) -> Ipv4Addr {
    let [network, host] = [number / 100, number % 100];
    Ipv4Addr::from_bits(VISITORS.to_bits() + (network << 8) + host)
}

async fn upload() -> anyhow::Result<Cost> {
    let (nats, s3, spool) = (Nats::start().await?, S3::start().await?, TempDir::new()?);
    let own = vec![
        PERSON_KEY.to_owned(),
        format!("--spool-dir={}", spool.path().display()),
    ];
    let flags = [nats.flags(User::Careers), s3.flags(), own].concat();
    let http = upload_client()?;
    let resume = Bytes::from(pdf(RESUME_MEGABYTES as usize * 1_000_000));
    let count = count_site(Path::Upload.name(), &flags, UPLOADS, async |site, number| {
        measure::upload(&http, site, &resume, visitor(number)).await
    });
    Ok(count.await?.per(UPLOADS.in_each * RESUME_MEGABYTES))
}

async fn page() -> anyhow::Result<Cost> {
    let site = TempDir::new()?;
    fs::write(site.path().join("_routes.json"), ROUTES)?;
    fs::write(site.path().join("index.html"), vec![b'x'; PAGE_BYTES])?;
    fs::write(site.path().join("index.html.gz"), vec![b'z'; COMPRESSED_BYTES])?;
    let flags = [format!("--site-dir={}", site.path().display())];
    let http = Client::new();
    let count = count_site(Path::Page.name(), &flags, PAGES, async |site, _| {
        sleep(UNTIL_READ_AGAIN).await;
        load_page(&http, site).await?;
        load_page(&http, site).await
    });
    Ok(count.await?.per(PAGES.in_each))
}

async fn load_page(http: &Client, site: &str) -> anyhow::Result<()> {
    let request = http
        .get(format!("{site}/"))
        .header(header::ACCEPT, "text/html")
        .header(header::ACCEPT_ENCODING, "gzip");
    let answer = request.send().await?;
    let (status, bytes) = (answer.status(), answer.bytes().await?.len());
    ensure!(
        status.is_success() && bytes == COMPRESSED_BYTES,
        "a page was answered {status} with {bytes} bytes"
    );
    Ok(())
}

async fn mail() -> anyhow::Result<Cost> {
    let flags = [
        MAILS.to_string(),
        "--token-key=a token key of thirty-two bytes or more".to_owned(),
        format!("--brand-file={}", root().join("brand.json").display()),
        "--s3-access-key-id=nobody".to_owned(),
        "--s3-secret-access-key=nothing".to_owned(),
    ];
    let count = count_alone(Path::Mail.name(), &flags).await?;
    Ok(count.per(MAILS))
}
