//! `sitectl backup` and `sitectl restore`: all that is stored, into a second bucket, and back.
//!
//! The order makes the parts fit together although the site goes on meanwhile. A backup takes the events first: whatever belongs to an
//! event was stored before it (a résumé) or may be newer without harm (what was delivered, so that a restored site sends nothing
//! twice; a dead letter, which is written before its event is acknowledged). The other way round, an event could come without its
//! résumé. A restore goes backwards.

mod create;
mod encryption;
mod repository;
mod restore;
mod snapshot;

use std::time::Duration;

use age::x25519::Recipient;
use async_nats::{
    Client,
    jetstream::{Context, context::ContextBuilder},
};
use clap::Args;
use resumes::{Bucket, S3Settings};
use site_service::{settings::Secret, tls::CaFile};

use self::repository::Repository;
use crate::common_args::{CommonArgs, Mode};
pub use create::backup;
pub use restore::restore;

/// How long the broker may take over a request: it writes to its disk before it answers some.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// What a backup needs to know.
#[derive(Args, Debug)]
pub struct BackupArgs {
    #[command(flatten)]
    bucket: BucketArgs,
    /// Public keys of age that the backup is encrypted for, separated by commas
    #[arg(long, env = "BACKUP_RECIPIENTS", value_delimiter = ',', value_parser = encryption::recipient, required = true)]
    backup_recipients: Vec<Recipient>,
    /// Days after which a backup is removed, and with it objects that no other names
    #[arg(long, env = "BACKUP_KEEP_DAYS", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..))]
    backup_keep_days: u16,
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    store: S3Settings,
}

/// What a restore needs to know.
#[derive(Args, Debug)]
pub struct RestoreArgs {
    #[command(flatten)]
    bucket: BucketArgs,
    /// The backup, such as 20261125T021700Z; without this the newest
    #[arg(long)]
    from: Option<String>,
    /// What `age-keygen` wrote: whatever decrypts the backup
    #[arg(long, env = "BACKUP_IDENTITY", hide_env_values = true)]
    backup_identity: Secret,
    /// Copies of every stream and bucket; without this as many as there were
    #[arg(long, env = "STREAM_REPLICAS")]
    replicas: Option<usize>,
    /// Restores the broker and leaves the bucket as it is
    #[arg(long)]
    broker_only: bool,
    #[command(flatten)]
    mode: Mode,
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    store: S3Settings,
}

/// Where backups are kept.
#[derive(Args, Debug)]
struct BucketArgs {
    /// Address of the S3-compatible store that backups are kept in
    #[arg(long, env = "BACKUP_S3_ENDPOINT", value_parser = resumes::endpoint)]
    backup_s3_endpoint: String,
    /// Region of the bucket of backups
    #[arg(long, env = "BACKUP_S3_REGION", default_value = "us-east-1")]
    backup_s3_region: String,
    /// Name of the bucket of backups
    #[arg(long, env = "BACKUP_S3_BUCKET", default_value = "backups")]
    backup_s3_bucket: String,
    /// Access key to the bucket of backups
    #[arg(long, env = "BACKUP_S3_ACCESS_KEY_ID")]
    backup_s3_access_key_id: String,
    /// Secret of the access key to the bucket of backups
    #[arg(long, env = "BACKUP_S3_SECRET_ACCESS_KEY", hide_env_values = true)]
    backup_s3_secret_access_key: Secret,
    /// File (PEM) of authorities to trust besides the system's, for a store of backups whose certificate is not public
    #[arg(long, env = "BACKUP_S3_CA_FILE", value_parser = CaFile::parse)]
    backup_s3_ca_file: Option<CaFile>,
}

impl BucketArgs {
    async fn open(&self) -> anyhow::Result<Repository> {
        let bucket = Bucket::new(&S3Settings {
            s3_endpoint: self.backup_s3_endpoint.clone(),
            s3_region: self.backup_s3_region.clone(),
            s3_bucket: self.backup_s3_bucket.clone(),
            s3_access_key_id: self.backup_s3_access_key_id.clone(),
            s3_secret_access_key: self.backup_s3_secret_access_key.clone(),
            s3_ca_file: self.backup_s3_ca_file.clone(),
        });
        Repository::open(bucket).await
    }
}

fn jetstream(client: Client) -> Context {
    ContextBuilder::new().timeout(REQUEST_TIMEOUT).build(client)
}
