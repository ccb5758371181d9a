//! `sitectl backup` and `sitectl restore`: all that is stored, into a folder or a second bucket, and back.
//!
//! The order is what makes the parts fit together although the site goes on meanwhile. A backup takes the events first:
//! whatever belongs to an event was stored before it (a résumé) or may be newer without harm (what was delivered, so
//! that a restored site sends nothing twice; a dead letter, which is written before its event is done with). The other
//! way round, an event could come without its résumé. A restore goes backwards: the events come last, when all that
//! they need is there.

mod create;
mod encryption;
mod manifest;
mod repository;
mod restore;
mod snapshot;
mod store;
mod verified;
mod writer;

use std::{path::PathBuf, time::Duration};

use age::x25519::Recipient;
use anyhow::Context as _;
use async_nats::{
    Client,
    jetstream::{Context, context::ContextBuilder},
};
use clap::Args;
use resumes::{Bucket, S3Settings};
use site_service::{settings::Secret, tls::CaFile};

use self::repository::Retention;
use crate::common_args::{CommonArgs, ModeArgs};
pub use create::backup;
pub use restore::restore;

/// How long the broker may take over a request: it writes to its disk before it answers some.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// What a backup needs to know.
#[derive(Args, Debug)]
pub struct BackupArgs {
    /// The folder: new, or empty; without one the bucket of backups
    folder: Option<PathBuf>,
    #[command(flatten)]
    bucket: BackupBucketSettings,
    /// Public keys of age that the backup is encrypted for, separated by commas; needed where it goes to the bucket
    #[arg(long, env = "BACKUP_RECIPIENTS", value_delimiter = ',', value_parser = encryption::recipient)]
    #[arg(required_unless_present = "folder")]
    backup_recipients: Vec<Recipient>,
    #[command(flatten)]
    retention: Retention,
    #[command(flatten)]
    common: CommonArgs,
    /// The bucket of résumés
    #[command(flatten)]
    store: S3Settings,
}

/// What a restore needs to know.
#[derive(Args, Debug)]
pub struct RestoreArgs {
    /// The folder that `sitectl backup` wrote; without one the bucket of backups
    folder: Option<PathBuf>,
    #[command(flatten)]
    bucket: BackupBucketSettings,
    /// The backup of the bucket, such as 20261125T021700Z; without this the newest
    #[arg(long, conflicts_with = "folder")]
    from: Option<String>,
    /// What `age-keygen` wrote: whatever decrypts the backup
    #[arg(long, env = "BACKUP_IDENTITY", hide_env_values = true)]
    backup_identity: Option<Secret>,
    /// Copies of every stream and bucket; without this as many as there were
    #[arg(long, env = "STREAM_REPLICAS")]
    replicas: Option<usize>,
    /// Restores the broker and leaves the bucket as it is
    #[arg(long)]
    broker_only: bool,
    #[command(flatten)]
    mode: ModeArgs,
    #[command(flatten)]
    common: CommonArgs,
    /// The bucket of résumés
    #[command(flatten)]
    store: S3Settings,
}

/// Where the bucket of backups is, and who we are there.
#[derive(Args, Debug)]
struct BackupBucketSettings {
    /// Address of the S3-compatible store that backups are kept in
    #[arg(long, env = "BACKUP_S3_ENDPOINT", required_unless_present = "folder", value_parser = resumes::endpoint)]
    backup_s3_endpoint: Option<String>,
    /// Region of the bucket of backups
    #[arg(long, env = "BACKUP_S3_REGION", default_value = "us-east-1")]
    backup_s3_region: String,
    /// Name of the bucket of backups
    #[arg(long, env = "BACKUP_S3_BUCKET", default_value = "backups")]
    backup_s3_bucket: String,
    /// Access key to the bucket of backups
    #[arg(long, env = "BACKUP_S3_ACCESS_KEY_ID", required_unless_present = "folder")]
    backup_s3_access_key_id: Option<String>,
    /// Secret of the access key to the bucket of backups
    #[arg(long, env = "BACKUP_S3_SECRET_ACCESS_KEY", hide_env_values = true)]
    #[arg(required_unless_present = "folder")]
    backup_s3_secret_access_key: Option<Secret>,
    /// File (PEM) of authorities to trust besides the system's, for a store of backups whose certificate is not public
    #[arg(long, env = "BACKUP_S3_CA_FILE", value_parser = CaFile::parse)]
    backup_s3_ca_file: Option<CaFile>,
}

impl BackupBucketSettings {
    fn bucket(&self) -> anyhow::Result<Bucket> {
        let missing = "neither a folder nor the settings BACKUP_S3_… say where backups are kept";
        Ok(Bucket::new(&S3Settings {
            s3_endpoint: self.backup_s3_endpoint.clone().context(missing)?,
            s3_region: self.backup_s3_region.clone(),
            s3_bucket: self.backup_s3_bucket.clone(),
            s3_access_key_id: self.backup_s3_access_key_id.clone().context(missing)?,
            s3_secret_access_key: self.backup_s3_secret_access_key.clone().context(missing)?,
            s3_ca_file: self.backup_s3_ca_file.clone(),
        }))
    }
}

fn jetstream(client: Client) -> Context {
    ContextBuilder::new().timeout(REQUEST_TIMEOUT).build(client)
}
