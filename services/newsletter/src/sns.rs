//! Amazon's SNS, by which SES reports: asked for the certificates that it signs with, and told that reports are wanted.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use http::{StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use mail_reports::{Post, PostError, SesTopic, SnsPost};
use site_service::tls::public_client_config;
use time::OffsetDateTime;
use tokio::{sync::Semaphore, time::timeout};

/// How long SNS may take to answer: less than the gateway waits for us.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// The longest answer that is read; a certificate has some 2 KB.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// How many certificates are remembered. SNS changes its own once in months.
const MAX_CERTIFICATES: usize = 8;

/// Why a message of SNS was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SnsError {
    /// It is not Amazon's, or cannot be read.
    #[error(transparent)]
    Post(#[from] PostError),
    /// SNS did not hand out its certificate, or did not take our answer.
    #[error("Amazon SNS was not reached: {0:#}")]
    Away(anyhow::Error),
}

/// The topic that SES reports by.
pub struct Sns {
    topic: SesTopic,
    address: Uri,
    client: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
    certificates: Mutex<HashMap<String, Bytes>>,
    /// One certificate is asked for at a time: whoever makes messages up must not have us ask for many.
    asking: Semaphore,
}

impl Sns {
    /// SNS in the topic's region, or at this address.
    ///
    /// # Errors
    ///
    /// If the system has no root certificates, or the address is none.
    pub fn new(topic: SesTopic, address: Option<Uri>) -> anyhow::Result<Self> {
        let tls = public_client_config(None).context("SES_TOPIC is set, and Amazon SNS cannot be reached")?;
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .build();
        let address = match address {
            Some(address) => address,
            None => format!("https://{}", topic.host()).parse()?,
        };
        Ok(Self {
            topic,
            address,
            client: Client::builder(TokioExecutor::new()).build(connector),
            certificates: Mutex::default(),
            asking: Semaphore::new(1),
        })
    }

    /// Reads a message, and says yes where it asks whether reports are wanted.
    ///
    /// # Errors
    ///
    /// If it is not Amazon's or cannot be read, or SNS does not answer.
    pub async fn read(&self, body: &[u8], now: OffsetDateTime) -> Result<Option<Post>, SnsError> {
        let message = self.topic.read(body)?;
        let certificate = self.certificate(message.certificate_path()).await?;
        match message.verified(&self.topic, &certificate, now)? {
            SnsPost::Post(post) => Ok(Some(post)),
            SnsPost::Confirm(path) => {
                self.get(&path).await.map_err(SnsError::Away)?;
                tracing::info!("reports of Amazon SES are subscribed to");
                Ok(None)
            }
        }
    }

    async fn certificate(&self, path: &str) -> Result<Bytes, SnsError> {
        if let Some(known) = self.lock().get(path).cloned() {
            return Ok(known);
        }
        let _turn = self.asking.acquire().await;
        if let Some(known) = self.lock().get(path).cloned() {
            return Ok(known);
        }
        let certificate = self.get(path).await.map_err(SnsError::Away)?;
        let mut certificates = self.lock();
        if certificates.len() >= MAX_CERTIFICATES {
            certificates.clear();
        }
        certificates.insert(path.to_owned(), certificate.clone());
        Ok(certificate)
    }

    async fn get(&self, path: &str) -> anyhow::Result<Bytes> {
        let mut parts = self.address.clone().into_parts();
        parts.path_and_query = Some(path.parse()?);
        let address = Uri::from_parts(parts)?;
        let getting = async {
            let answer = self.client.get(address).await?;
            let status = answer.status();
            ensure!(status == StatusCode::OK, "it answers {status}");
            let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
            let body = body.map_err(|error| anyhow::anyhow!("its answer cannot be read: {error}"))?;
            Ok(body.to_bytes())
        };
        let got = timeout(ANSWER_TIMEOUT, getting).await;
        got.with_context(|| format!("no answer within {} s", ANSWER_TIMEOUT.as_secs()))?
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Bytes>> {
        self.certificates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
