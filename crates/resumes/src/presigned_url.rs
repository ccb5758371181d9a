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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::S3Settings;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        store: S3Settings,
    }

    fn settings(addressing: &str) -> Result<S3Settings, clap::Error> {
        let addressing = format!("--s3-addressing={addressing}");
        let key = ["--s3-access-key-id=key", "--s3-secret-access-key=secret"];
        Ok(Flags::try_parse_from(["s3", &addressing].iter().chain(&key))?.store)
    }

    #[tokio::test]
    async fn the_buckets_name_is_in_the_path_or_in_the_host() -> anyhow::Result<()> {
        for (addressing, begin) in [
            ("path", "http://s3.example.com/resumes/a-key?"),
            ("virtual", "http://resumes.s3.example.com/a-key?"),
        ] {
            let store = ResumeStore::for_links(&settings(addressing)?, Some("http://s3.example.com"));
            let lifetime = Duration::from_secs(60);
            let link = store.presigned_url("a-key", "cv.pdf", lifetime).await?;
            assert!(link.starts_with(begin), "{link}");
        }
        Ok(())
    }

    #[test]
    fn a_link_by_a_web_identity_lives_at_most_an_hour() -> anyhow::Result<()> {
        let [minute, hour, day] = [1, 60, 24 * 60].map(|minutes| Duration::from_secs(60 * minutes));
        let mut settings = settings("path")?;
        assert_eq!(settings.link_lifetime(day), day);
        settings.s3_access_key_id = None;
        assert_eq!(settings.link_lifetime(day), hour);
        assert_eq!(settings.link_lifetime(minute), minute);
        Ok(())
    }
}
