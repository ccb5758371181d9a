//! A bucket of files of any size, by the same client: where `sitectl` keeps backups.

use std::{error::Error, time::Duration};

use aws_sdk_s3::{
    Client,
    config::{http::HttpResponse, timeout::TimeoutConfig},
    error::{ProvideErrorMetadata, SdkError},
    primitives::{ByteStream, DateTime},
    types::{CompletedMultipartUpload, CompletedPart},
};
use time::OffsetDateTime;
use tokio::io::AsyncRead;

use crate::{CONNECT_TIMEOUT, ResumeStoreError, S3Settings, authorised};

/// Size of a part of a large file, which has 10,000 parts at most.
const PART_BYTES: usize = 16 * 1024 * 1024;
/// How long a part may take: nobody waits for a backup, and it goes over whatever line there is. The SDK ends a transfer on which
/// nothing moves long before.
const PART_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// A bucket of files.
#[derive(Clone)]
pub struct Bucket {
    client: Client,
    name: String,
}

/// A file as the bucket lists it.
#[derive(Debug, Clone)]
pub struct ListedFile {
    /// Where it lies.
    pub key: String,
    /// How large it is.
    pub bytes: u64,
    /// When it was stored.
    pub stored: OffsetDateTime,
}

impl Bucket {
    /// A client for the bucket; nothing is sent yet.
    pub fn new(settings: &S3Settings) -> Self {
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .operation_attempt_timeout(PART_TIMEOUT)
            // Left unsaid, that of résumés would hold.
            .disable_operation_timeout();
        let config = authorised(settings).timeout_config(timeouts.build());
        Self {
            client: Client::from_conf(config.build()),
            name: settings.s3_bucket.clone(),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Every file whose key begins so, in the order of their keys.
    ///
    /// # Errors
    ///
    /// If the store does not list the bucket.
    pub async fn list(&self, prefix: &str) -> Result<Vec<ListedFile>, ResumeStoreError> {
        let listing = self.client.list_objects_v2().bucket(&self.name).prefix(prefix);
        let mut pages = listing.into_paginator().send();
        let mut files = Vec::new();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|error| failed("list the bucket", &error))?;
            files.extend(
                page.contents
                    .unwrap_or_default()
                    .into_iter()
                    .filter_map(|object| {
                        Some(ListedFile {
                            key: object.key?,
                            bytes: u64::try_from(object.size?).ok()?,
                            stored: point_in_time(object.last_modified?)?,
                        })
                    }),
            );
        }
        Ok(files)
    }

    /// Opens a file; `None` where there is none under this key.
    ///
    /// # Errors
    ///
    /// If the store answers anything but the file or its absence.
    pub async fn open(&self, key: &str) -> Result<Option<impl AsyncRead + Unpin + use<>>, ResumeStoreError> {
        let get = self.client.get_object().bucket(&self.name).key(key);
        match get.send().await {
            Ok(object) => Ok(Some(object.body.into_async_read())),
            Err(SdkError::ServiceError(error)) if error.err().is_no_such_key() => Ok(None),
            Err(error) => Err(failed("give the file", &error)),
        }
    }

    /// Begins a file. It is there once [`Upload::finish`] has succeeded, and not a part of it before.
    pub fn upload(&self, key: String) -> Upload {
        Upload {
            bucket: self.clone(),
            key,
            part: Vec::new(),
            large: None,
        }
    }

    /// Removes a file; removing what is not there is a success.
    ///
    /// # Errors
    ///
    /// If the store did not say that it is gone.
    pub async fn delete(&self, key: &str) -> Result<(), ResumeStoreError> {
        let delete = self.client.delete_object().bucket(&self.name).key(key);
        let deleted = delete.send().await;
        deleted
            .map(drop)
            .map_err(|error| failed("remove the file", &error))
    }
}

/// A call failed.
fn failed<E>(action: &'static str, error: &SdkError<E, HttpResponse>) -> ResumeStoreError
where
    E: Error + ProvideErrorMetadata + 'static,
{
    ResumeStoreError::of_settings("BACKUP_S3", action, error)
}

fn point_in_time(stored: DateTime) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp(stored.secs()).ok()
}

/// A file that is on its way into the bucket.
pub struct Upload {
    bucket: Bucket,
    key: String,
    /// What was not sent yet.
    part: Vec<u8>,
    /// What was sent, where the file is larger than a part.
    large: Option<LargeUpload>,
}

struct LargeUpload {
    id: String,
    parts: Vec<CompletedPart>,
}

impl Upload {
    /// Adds to it.
    ///
    /// # Errors
    ///
    /// If the store did not take a part of it.
    pub async fn write(&mut self, content: &[u8]) -> Result<(), ResumeStoreError> {
        self.part.extend_from_slice(content);
        if self.part.len() < PART_BYTES {
            return Ok(());
        }
        self.send_part().await
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// If the store did not take it.
    pub async fn finish(mut self) -> Result<(), ResumeStoreError> {
        if self.large.is_some() && !self.part.is_empty() {
            self.send_part().await?;
        }
        let Self {
            bucket: Bucket { client, name },
            key,
            part,
            large,
        } = self;
        let Some(LargeUpload { id, parts }) = large else {
            let put = client.put_object().bucket(name).key(key).body(part.into());
            let put = put.send().await;
            return put.map(drop).map_err(|error| failed("take the file", &error));
        };
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
        let complete = client.complete_multipart_upload().bucket(name).key(key);
        let completed = complete.upload_id(id).multipart_upload(parts).send().await;
        completed
            .map(drop)
            .map_err(|error| failed("put the file's parts together", &error))
    }

    async fn send_part(&mut self) -> Result<(), ResumeStoreError> {
        let Bucket { client, name } = &self.bucket;
        let large = match &mut self.large {
            Some(large) => large,
            large => {
                let create = client.create_multipart_upload().bucket(name).key(&self.key);
                let created = create.send().await;
                let created = created.map_err(|error| failed("begin a large file", &error))?;
                large.insert(LargeUpload {
                    id: created.upload_id.unwrap_or_default(),
                    parts: Vec::new(),
                })
            }
        };
        let number = i32::try_from(large.parts.len() + 1).unwrap_or(i32::MAX);
        let content = std::mem::replace(&mut self.part, Vec::with_capacity(PART_BYTES));
        let upload = client.upload_part().bucket(name).key(&self.key);
        let upload = upload.upload_id(&large.id).part_number(number);
        let uploaded = upload.body(ByteStream::from(content)).send().await;
        let uploaded = uploaded.map_err(|error| failed("take a part of the file", &error))?;
        let part = CompletedPart::builder().part_number(number);
        large.parts.push(part.set_e_tag(uploaded.e_tag).build());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_backup_has_longer_than_a_resume_may_take() {
        let bucket = Bucket::new(&S3Settings {
            s3_endpoint: "http://127.0.0.1:9000".to_owned(),
            s3_region: "us-east-1".to_owned(),
            s3_bucket: "backups".to_owned(),
            s3_access_key_id: "somebody".to_owned(),
            s3_secret_access_key: "a secret".into(),
            s3_ca_file: None,
        });
        let timeouts = bucket.client.config().timeout_config().expect("it has timeouts");
        assert_eq!(timeouts.operation_timeout(), None);
        assert_eq!(timeouts.operation_attempt_timeout(), Some(PART_TIMEOUT));
    }
}
