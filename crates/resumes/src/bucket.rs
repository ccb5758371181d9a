//! S3 bucket for files of any size, where `sitectl` keeps backups.

use std::{error::Error, time::Duration};

use aws_sdk_s3::{
    Client,
    config::timeout::TimeoutConfig,
    error::{ProvideErrorMetadata, SdkError},
    types::{CompletedMultipartUpload, CompletedPart},
};
use time::OffsetDateTime;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::{CONNECT_TIMEOUT, ResumeStoreError, S3Settings, authorised};

/// Size of an upload's parts. S3 allows 10,000 parts per file.
const PART_BYTES: usize = 16 * 1024 * 1024;
/// Timeout of one part, for slow connections. The SDK aborts stalled transfers much earlier.
const PART_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Bucket of backup files.
#[derive(Clone)]
pub struct Bucket {
    client: Client,
    name: String,
}

/// File in a listing of the bucket.
#[derive(Debug, Clone)]
pub struct ListedFile {
    /// Key in the bucket.
    pub key: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the last write.
    pub stored: OffsetDateTime,
}

impl Bucket {
    /// Creates the client without sending a request.
    pub fn new(settings: &S3Settings) -> Self {
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .operation_attempt_timeout(PART_TIMEOUT)
            // Without this, the operation timeout for résumés (from [`authorised`]) would apply to backups.
            .disable_operation_timeout();
        let config = authorised(settings).timeout_config(timeouts.build());
        Self {
            client: Client::from_conf(config.build()),
            name: settings.s3_bucket.clone(),
        }
    }

    /// Name of the bucket.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates the bucket if the store says that it does not exist.
    ///
    /// # Errors
    ///
    /// If the store does not create it.
    pub async fn create_if_missing(&self) -> Result<(), ResumeStoreError> {
        let found = self.client.head_bucket().bucket(&self.name).send().await;
        match found {
            Err(SdkError::ServiceError(error)) if error.err().is_not_found() => {
                let created = self.client.create_bucket().bucket(&self.name).send().await;
                created
                    .map(drop)
                    .map_err(|error| failed("create the bucket", &error))
            }
            _ => Ok(()),
        }
    }

    /// Lists every file, ordered by key.
    ///
    /// # Errors
    ///
    /// If the store does not list the bucket.
    pub async fn list(&self) -> Result<Vec<ListedFile>, ResumeStoreError> {
        let listing = self.client.list_objects_v2().bucket(&self.name);
        let mut pages = listing.into_paginator().send();
        let mut files = Vec::new();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|error| failed("list the bucket", &error))?;
            let objects = page.contents.unwrap_or_default().into_iter();
            files.extend(objects.filter_map(|object| {
                Some(ListedFile {
                    key: object.key?,
                    bytes: u64::try_from(object.size?).ok()?,
                    stored: OffsetDateTime::from_unix_timestamp(object.last_modified?.secs()).ok()?,
                })
            }));
        }
        Ok(files)
    }

    /// Opens a file, or returns `None` if the key does not exist.
    ///
    /// # Errors
    ///
    /// If the store returns an error other than "no such key".
    pub async fn open(&self, key: &str) -> Result<Option<impl AsyncRead + Unpin + use<>>, ResumeStoreError> {
        let get = self.client.get_object().bucket(&self.name).key(key);
        match get.send().await {
            Ok(object) => Ok(Some(object.body.into_async_read())),
            Err(SdkError::ServiceError(error)) if error.err().is_no_such_key() => Ok(None),
            Err(error) => Err(failed("return the file", &error)),
        }
    }

    /// Stores a file, in parts if it is large. The file appears only once the upload completes.
    ///
    /// # Errors
    ///
    /// If the content cannot be read or the store rejects it.
    pub async fn put(&self, key: &str, mut content: impl AsyncRead + Unpin) -> Result<(), ResumeStoreError> {
        let first = next_part(&mut content).await?;
        if first.len() == PART_BYTES {
            return self.put_in_parts(key, first, content).await;
        }
        let put = self.client.put_object().bucket(&self.name).key(key);
        let put = put.body(first.into()).send().await;
        put.map(drop).map_err(|error| failed("store the file", &error))
    }

    async fn put_in_parts(
        &self,
        key: &str,
        first: Vec<u8>,
        mut content: impl AsyncRead + Unpin,
    ) -> Result<(), ResumeStoreError> {
        let (client, name) = (&self.client, &self.name);
        let create = client.create_multipart_upload().bucket(name).key(key);
        let created = create.send().await;
        let created = created.map_err(|error| failed("begin a large file", &error))?;
        let id = created.upload_id.unwrap_or_default();
        let (mut parts, mut part) = (Vec::new(), first);
        while !part.is_empty() {
            let number = i32::try_from(parts.len() + 1).unwrap_or(i32::MAX);
            let upload = client.upload_part().bucket(name).key(key).upload_id(&id);
            let uploaded = upload.part_number(number).body(part.into()).send().await;
            let uploaded = uploaded.map_err(|error| failed("store a part of the file", &error))?;
            let uploaded = CompletedPart::builder()
                .part_number(number)
                .set_e_tag(uploaded.e_tag);
            parts.push(uploaded.build());
            part = next_part(&mut content).await?;
        }
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
        let complete = client.complete_multipart_upload().bucket(name).key(key);
        let completed = complete.upload_id(id).multipart_upload(parts).send().await;
        completed
            .map(drop)
            .map_err(|error| failed("join the parts of the file", &error))
    }

    /// Removes a file. Removing a missing file succeeds.
    ///
    /// # Errors
    ///
    /// If the store does not confirm the removal.
    pub async fn delete(&self, key: &str) -> Result<(), ResumeStoreError> {
        let delete = self.client.delete_object().bucket(&self.name).key(key);
        let deleted = delete.send().await;
        deleted
            .map(drop)
            .map_err(|error| failed("remove the file", &error))
    }
}

fn failed<E: Error + ProvideErrorMetadata + 'static>(action: &str, error: &SdkError<E>) -> ResumeStoreError {
    ResumeStoreError::of_settings("BACKUP_S3", action, error)
}

async fn next_part(content: &mut (impl AsyncRead + Unpin)) -> Result<Vec<u8>, ResumeStoreError> {
    let mut part = Vec::new();
    let read = content.take(PART_BYTES as u64).read_to_end(&mut part).await;
    read.map_err(|error| ResumeStoreError::of_ours("store the file", &error))?;
    Ok(part)
}
