//! `sitectl backup` and `sitectl restore`: all streams and the bucket of résumés, into a second bucket and back.
//!
//! The order keeps a backup consistent while the site runs. Events come first. A résumé is stored before its
//! event, so the later copy of the bucket has it. Delivery records and dead letters can be newer than the
//! events: a restored site then sends nothing twice. A restore uses the reverse order.

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
use resumes::{Addressing, Bucket, S3Settings, has_web_identity};
use site_service::{settings::Secret, tls::CaFile};

use crate::common_args::{CommonArgs, Mode, Repeat};
pub use create::backup;
pub use restore::restore;

/// Long, because the broker writes to its disk before some responses.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Args, Debug)]
pub struct BackupArgs {
    #[command(flatten)]
    bucket: BucketArgs,
    /// Public keys of age to encrypt the backup for, separated by commas
    #[arg(long, env = "BACKUP_RECIPIENTS", value_delimiter = ',', value_parser = encryption::recipient, required = true)]
    backup_recipients: Vec<Recipient>,
    /// Days after which a backup is removed, with objects that no other backup needs
    #[arg(long, env = "BACKUP_KEEP_DAYS", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..))]
    backup_keep_days: u16,
    #[command(flatten)]
    repeat: Repeat,
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    store: S3Settings,
}

#[derive(Args, Debug)]
pub struct RestoreArgs {
    #[command(flatten)]
    bucket: BucketArgs,
    /// Name of the backup, such as 20261125T021700Z; the newest by default
    #[arg(long)]
    from: Option<String>,
    /// Identity that decrypts the backup, as `age-keygen` writes it
    #[arg(long, env = "BACKUP_IDENTITY", hide_env_values = true)]
    backup_identity: Secret,
    /// Copies of every stream and bucket; as in the backup by default
    #[arg(long, env = "STREAM_REPLICAS")]
    replicas: Option<usize>,
    /// Restores the broker, but not the bucket
    #[arg(long)]
    broker_only: bool,
    #[command(flatten)]
    mode: Mode,
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    store: S3Settings,
}

/// Bucket of backups.
#[derive(Args, Debug)]
struct BucketArgs {
    /// Address of the S3-compatible store of backups
    #[arg(long, env = "BACKUP_S3_ENDPOINT", value_parser = resumes::endpoint)]
    backup_s3_endpoint: String,
    /// Region of the bucket of backups
    #[arg(long, env = "BACKUP_S3_REGION", default_value = "us-east-1")]
    backup_s3_region: String,
    /// Name of the bucket of backups
    #[arg(long, env = "BACKUP_S3_BUCKET", default_value = "backups")]
    backup_s3_bucket: String,
    /// Access key to the bucket of backups; not needed with a web identity (AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE)
    #[arg(long, env = "BACKUP_S3_ACCESS_KEY_ID", required = !has_web_identity())]
    backup_s3_access_key_id: Option<String>,
    /// Secret of the access key to the bucket of backups
    #[arg(
        long,
        env = "BACKUP_S3_SECRET_ACCESS_KEY",
        hide_env_values = true,
        required = !has_web_identity()
    )]
    backup_s3_secret_access_key: Option<Secret>,
    /// File (PEM) of authorities to trust besides the system's, for a store of backups whose certificate is not public
    #[arg(long, env = "BACKUP_S3_CA_FILE", value_parser = CaFile::parse)]
    backup_s3_ca_file: Option<CaFile>,
}

impl BucketArgs {
    /// Opens the bucket, with the addressing style of the résumés' store.
    fn bucket(&self, addressing: Addressing) -> Bucket {
        Bucket::new(&S3Settings {
            s3_endpoint: self.backup_s3_endpoint.clone(),
            s3_region: self.backup_s3_region.clone(),
            s3_bucket: self.backup_s3_bucket.clone(),
            s3_addressing: addressing,
            s3_access_key_id: self.backup_s3_access_key_id.clone(),
            s3_secret_access_key: self.backup_s3_secret_access_key.clone(),
            s3_ca_file: self.backup_s3_ca_file.clone(),
        })
    }
}

fn jetstream(client: Client) -> Context {
    ContextBuilder::new().timeout(REQUEST_TIMEOUT).build(client)
}
