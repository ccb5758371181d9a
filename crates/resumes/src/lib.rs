//! S3 bucket of résumés: keys, uploads, presigned URLs.
//!
//! The careers service stores résumés, the notifier reads and links to them, `sitectl` administers the bucket.

mod bucket;
mod endpoint;
mod file_name;
mod https;
mod key;
mod objects;
mod presigned_url;
mod public_access;
mod store_error;
mod upload_records;
mod web_identity;

use std::{
    io::{self, ErrorKind},
    path::Path,
    time::{Duration, Instant},
};

use aws_sdk_s3::{
    Client,
    config::{
        BehaviorVersion, Credentials, IdentityCache, Region, RequestChecksumCalculation,
        ResponseChecksumValidation, retry::RetryConfig, timeout::TimeoutConfig,
    },
    error::SdkError,
    operation::list_objects_v2::ListObjectsV2Error,
    primitives::ByteStream,
};
use clap::{Args, ValueEnum};
use http::Uri;
use opentelemetry::{KeyValue, metrics::Histogram};
use site_service::{
    metrics::{self, SLOW_BUCKETS_SECONDS},
    settings::{ExposeSecret, Secret},
    tls::CaFile,
    trace,
};
use tracing::{Instrument, Span, error_span, field::Empty};
use visitor::PersonId;

pub use bucket::{Bucket, ListedFile};
pub use endpoint::endpoint;
pub use file_name::{readable_file_name, safe_file_name};
pub use key::ResumeKey;
pub use objects::ObjectInfo;
pub use store_error::ResumeStoreError;
pub use upload_records::{UploadRecord, UploadRecords};
pub use web_identity::has_web_identity;

/// Timeout of one operation, including retries. The careers service's grace period depends on this value.
const OPERATION_TIMEOUT: Duration = Duration::from_secs(40);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Address of the bucket, and our credentials.
#[derive(Args, Debug, Clone)]
pub struct S3Settings {
    /// Address of the S3-compatible store
    #[arg(long, env = "S3_ENDPOINT", default_value = "http://127.0.0.1:9000", value_parser = endpoint)]
    pub s3_endpoint: String,
    /// Region of the bucket
    #[arg(long, env = "S3_REGION", default_value = "us-east-1")]
    pub s3_region: String,
    /// Name of the bucket
    #[arg(long, env = "S3_BUCKET", default_value = "resumes")]
    pub s3_bucket: String,
    /// Whether the bucket's name is in the path or the host name of the store's addresses
    #[arg(long, env = "S3_ADDRESSING", value_enum, default_value_t = Addressing::Path)]
    pub s3_addressing: Addressing,
    /// Access key; not needed with a web identity (AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE)
    #[arg(long, env = "S3_ACCESS_KEY_ID", required = !has_web_identity())]
    pub s3_access_key_id: Option<String>,
    /// Secret of the access key
    #[arg(long, env = "S3_SECRET_ACCESS_KEY", hide_env_values = true, required = !has_web_identity())]
    pub s3_secret_access_key: Option<Secret>,
    /// File (PEM) of additional authorities to trust, for a store with a certificate of a private authority
    #[arg(long, env = "S3_CA_FILE", value_parser = CaFile::parse)]
    pub s3_ca_file: Option<CaFile>,
}

/// Whether the bucket's name is in the path or the host name of the store's addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Addressing {
    /// In the path: `https://s3.example.com/resumes`.
    Path,
    /// In the host name: `https://resumes.s3.example.com`.
    Virtual,
}

impl S3Settings {
    fn key(&self) -> Option<(&str, &Secret)> {
        Some((
            self.s3_access_key_id.as_deref()?,
            self.s3_secret_access_key.as_ref()?,
        ))
    }

    /// Lifetime of a link, at most `wanted`. A link expires with the session that signed it.
    pub fn link_lifetime(&self, wanted: Duration) -> Duration {
        match self.key() {
            Some(_) => wanted,
            None => wanted.min(web_identity::SESSION),
        }
    }
}

/// Client of the bucket.
#[derive(Clone)]
pub struct ResumeStore {
    client: Client,
    bucket: String,
    /// Address of the store, for spans.
    address: Uri,
    puts: Histogram<f64>,
}

impl ResumeStore {
    /// Creates the client without sending a request.
    pub fn new(settings: &S3Settings) -> Self {
        Self::over(settings, Client::from_conf(authorised(settings).build()))
    }

    /// Creates the client for presigned URLs, with the store's public address, because signatures include the
    /// host.
    pub fn for_links(settings: &S3Settings, public_endpoint: Option<&str>) -> Self {
        let settings = S3Settings {
            s3_endpoint: public_endpoint.unwrap_or(&settings.s3_endpoint).to_owned(),
            ..settings.clone()
        };
        // A new session for each link, because a link expires with its session.
        let config = authorised(&settings).identity_cache(IdentityCache::no_cache());
        Self::over(&settings, Client::from_conf(config.build()))
    }

    fn over(settings: &S3Settings, client: Client) -> Self {
        Self {
            client,
            bucket: settings.s3_bucket.clone(),
            address: settings.s3_endpoint.parse().unwrap_or_default(),
            puts: metrics::seconds_histogram(
                "site.resume.store.duration",
                "Duration of storing a résumé",
                &SLOW_BUCKETS_SECONDS,
            ),
        }
    }

    /// Checks that our credentials reach the bucket.
    ///
    /// # Errors
    ///
    /// If the store is unavailable, the bucket missing, or access denied.
    pub async fn check(&self) -> Result<(), ResumeStoreError> {
        let head = self.client.head_bucket().bucket(&self.bucket).send().await;
        head.map(drop)
            .map_err(|error| ResumeStoreError::new("find the bucket", &error))
    }

    /// Creates the bucket if it is missing.
    ///
    /// # Errors
    ///
    /// If the bucket is missing and the store does not create it.
    pub async fn ensure_bucket(&self) -> Result<(), ResumeStoreError> {
        if self.check().await.is_ok() {
            return Ok(());
        }
        let created = self.client.create_bucket().bucket(&self.bucket).send().await;
        match created {
            Ok(_) => Ok(()),
            Err(SdkError::ServiceError(e)) if e.err().is_bucket_already_owned_by_you() => Ok(()),
            Err(error) => Err(ResumeStoreError::new("create the bucket", &error)),
        }
    }

    /// Stores a spooled file. The client can read the file again for a retry.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or the store fails. The store may have the file nevertheless.
    pub async fn put(
        &self,
        key: &ResumeKey,
        file: &Path,
        content_type: &str,
    ) -> Result<(), ResumeStoreError> {
        let started = Instant::now();
        let span = self.span("PutObject");
        let putting = async {
            let body = ByteStream::from_path(file).await;
            let body = body.map_err(|error| ResumeStoreError::of_ours("read the spooled résumé", &error))?;
            self.put_object(key.as_str(), Some(content_type), body).await
        };
        let put = putting.instrument(span.clone()).await;
        let outcome = if put.is_ok() { "stored" } else { "failed" };
        if put.is_err() {
            trace::fail(&span);
        }
        let outcome = KeyValue::new("outcome", outcome);
        self.puts.record(started.elapsed().as_secs_f64(), &[outcome]);
        put
    }

    /// Span of one request (OpenTelemetry's semantic conventions for AWS S3).
    fn span(&self, method: &'static str) -> Span {
        error_span!(
            "call",
            otel.name = ["S3/", method].concat(),
            otel.kind = "client",
            otel.status_code = Empty,
            rpc.system = "aws-api",
            rpc.service = "S3",
            rpc.method = method,
            aws.s3.bucket = self.bucket,
            server.address = self.address.host(),
            server.port = self.address.port_u16().map(i64::from),
        )
    }

    async fn put_object(
        &self,
        key: &str,
        content_type: Option<&str>,
        body: ByteStream,
    ) -> Result<(), ResumeStoreError> {
        let put = self.client.put_object().bucket(&self.bucket).key(key);
        let put = put.set_content_type(content_type.map(str::to_owned)).body(body);
        let put = put.send().await;
        put.map(drop)
            .map_err(|error| ResumeStoreError::new("store the résumé", &error))
    }

    /// Removes a résumé. Removing a missing résumé succeeds.
    ///
    /// # Errors
    ///
    /// If the store does not confirm the removal.
    pub async fn delete(&self, key: &ResumeKey) -> Result<(), ResumeStoreError> {
        let delete = self.client.delete_object().bucket(&self.bucket);
        let deleted = delete.key(key.as_str()).send().await;
        deleted
            .map(drop)
            .map_err(|error| ResumeStoreError::new("remove the résumé", &error))
    }

    /// Keys of one person's résumés.
    ///
    /// # Errors
    ///
    /// If the store does not list the bucket.
    pub async fn keys_of_person(&self, person: &PersonId) -> Result<Vec<ResumeKey>, ResumeStoreError> {
        let keys = self.keys(&ResumeKey::prefix(person)).await?;
        Ok(keys.into_iter().map(ResumeKey::known).collect())
    }

    /// Content of a résumé.
    ///
    /// # Errors
    ///
    /// If it is missing or the download ends early.
    pub async fn get(&self, key: &ResumeKey) -> Result<Vec<u8>, ResumeStoreError> {
        let getting = self.object(key.as_str()).instrument(self.span("GetObject"));
        let missing = || ResumeStoreError::of_ours("read the résumé", &io::Error::from(ErrorKind::NotFound));
        let (_, content) = getting.await?.ok_or_else(missing)?;
        Ok(content)
    }

    async fn first_key(&self) -> Result<Option<String>, SdkError<ListObjectsV2Error>> {
        let listing = self.client.list_objects_v2().bucket(&self.bucket).max_keys(1);
        let mut objects = listing.send().await?.contents.unwrap_or_default();
        Ok(objects.pop().and_then(|object| object.key))
    }
}

fn authorised(settings: &S3Settings) -> aws_sdk_s3::config::Builder {
    let config = config(settings);
    match settings.key() {
        Some((id, secret)) => {
            let key = Credentials::new(id, secret.expose_secret(), None, None, "settings");
            config.credentials_provider(key)
        }
        None => config.credentials_provider(web_identity::sessions(settings)),
    }
}

fn config(settings: &S3Settings) -> aws_sdk_s3::config::Builder {
    let http = https::client(&settings.s3_endpoint, settings.s3_ca_file.as_ref());
    aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(http)
        .endpoint_url(&settings.s3_endpoint)
        .region(Region::new(settings.s3_region.clone()))
        .force_path_style(settings.s3_addressing == Addressing::Path)
        // Garage rejects the SDK's newer default checksums.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenRequired)
        .retry_config(RetryConfig::standard().with_max_attempts(3))
        .timeout_config(
            TimeoutConfig::builder()
                .connect_timeout(CONNECT_TIMEOUT)
                .operation_attempt_timeout(Duration::from_secs(20))
                .operation_timeout(OPERATION_TIMEOUT)
                .build(),
        )
}
