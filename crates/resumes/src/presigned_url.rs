//! Presigned URLs: recruiters download a résumé without credentials.

use std::time::Duration;

use aws_sdk_s3::presigning::PresigningConfig;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{ResumeStore, ResumeStoreError, readable_file_name, safe_file_name};

impl ResumeStore {
    /// Presigned URL that downloads the résumé under its name and expires after `lifetime`. Signatures of S3 last
    /// at most 7 days.
    ///
    /// # Errors
    ///
    /// If `lifetime` is longer than 7 days.
    pub async fn presigned_url(
        &self,
        key: &str,
        file_name: &str,
        lifetime: Duration,
    ) -> Result<String, ResumeStoreError> {
        let presigning = PresigningConfig::expires_in(lifetime)
            .map_err(|error| ResumeStoreError::of_ours("sign a link", &error))?;
        let get = self.client.get_object().bucket(&self.bucket).key(key);
        let get = get.response_content_disposition(content_disposition(file_name));
        let signed = get.presigned(presigning).await;
        let signed = signed.map_err(|error| ResumeStoreError::new("sign a link", &error))?;
        Ok(signed.uri().to_owned())
    }
}

/// Header with the original file name, and an ASCII name for older clients (RFC 6266, appendix D).
fn content_disposition(file_name: &str) -> String {
    let safe = safe_file_name(file_name);
    let readable = readable_file_name(file_name);
    let readable = utf8_percent_encode(&readable, NON_ALPHANUMERIC);
    format!("attachment; filename=\"{safe}\"; filename*=UTF-8''{readable}")
}
