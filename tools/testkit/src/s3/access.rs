//! Permissions of the store's users, as in docs/operations.md.

use s3s::{
    S3Result,
    access::{S3Access, S3AccessContext},
    path::S3Path,
    s3_error,
};

pub(super) const BACKUPS: &str = "backups";
pub(super) const BACKUP_USER: &str = "backup";

const READING: [&str; 3] = ["HeadBucket", "ListObjectsV2", "GetObject"];
const WRITING: [&str; 5] = [
    "PutObject",
    "CreateMultipartUpload",
    "UploadPart",
    "CompleteMultipartUpload",
    "DeleteObject",
];

/// The backup user may write backups only; others have full access.
pub(super) struct Rights;

#[async_trait::async_trait]
impl S3Access for Rights {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let Some(user) = context.credentials() else {
            return Err(s3_error!(AccessDenied));
        };
        let operation = context.s3_op().name();
        let bucket = match context.s3_path() {
            S3Path::Root => "",
            S3Path::Bucket { bucket } | S3Path::Object { bucket, .. } => bucket,
        };
        let may_read = READING.contains(&operation);
        let may_write = bucket == BACKUPS && WRITING.contains(&operation);
        if user.access_key != BACKUP_USER || may_read || may_write {
            Ok(())
        } else {
            Err(s3_error!(AccessDenied))
        }
    }
}
