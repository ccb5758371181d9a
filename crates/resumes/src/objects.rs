//! The bucket's objects as they are: what a backup takes and a restore brings back.

use aws_sdk_s3::error::SdkError;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt as _;

use crate::{ResumeStore, ResumeStoreError};

/// An object without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectInfo {
    /// Where it lies in the bucket.
    pub key: String,
    /// What its content is said to be.
    pub content_type: Option<String>,
}

impl ResumeStore {
    /// All keys of the bucket that begin so, in their order.
    ///
    /// # Errors
    ///
    /// If the store does not list the bucket.
    pub async fn keys(&self, prefix: &str) -> Result<Vec<String>, ResumeStoreError> {
        let listing = self.client.list_objects_v2().bucket(&self.bucket).prefix(prefix);
        let mut pages = listing.into_paginator().send();
        let mut keys = Vec::new();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|error| ResumeStoreError::new("list the bucket", &error))?;
            let objects = page.contents.unwrap_or_default().into_iter();
            keys.extend(objects.filter_map(|object| object.key));
        }
        Ok(keys)
    }

    /// An object and its content; `None` where there is none under this key.
    ///
    /// # Errors
    ///
    /// If the store answers anything but the object or its absence.
    pub async fn object(&self, key: &str) -> Result<Option<(ObjectInfo, Vec<u8>)>, ResumeStoreError> {
        let get = self.client.get_object().bucket(&self.bucket).key(key);
        let object = match get.send().await {
            Ok(object) => object,
            Err(SdkError::ServiceError(error)) if error.err().is_no_such_key() => return Ok(None),
            Err(error) => return Err(ResumeStoreError::new("give the object", &error)),
        };
        let info = ObjectInfo {
            key: key.to_owned(),
            content_type: object.content_type,
        };
        // Room for all of it at once, and no second copy.
        let length = object.content_length.unwrap_or_default();
        let mut content = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        let read = object.body.into_async_read().read_to_end(&mut content).await;
        read.map_err(|error| ResumeStoreError::cut_off("give the object", &error))?;
        Ok(Some((info, content)))
    }

    /// Stores an object.
    ///
    /// # Errors
    ///
    /// If the store did not take it.
    pub async fn restore(&self, info: &ObjectInfo, content: Vec<u8>) -> Result<(), ResumeStoreError> {
        let content_type = info.content_type.as_deref();
        self.put_object(&info.key, content_type, content.into()).await
    }

    /// Whether the bucket holds no object; a missing one holds none.
    ///
    /// # Errors
    ///
    /// If the store does not list the bucket.
    pub async fn is_empty(&self) -> Result<bool, ResumeStoreError> {
        match self.first_key().await {
            Ok(key) => Ok(key.is_none()),
            Err(SdkError::ServiceError(error)) if error.err().is_no_such_bucket() => Ok(true),
            Err(error) => Err(ResumeStoreError::new("list the bucket", &error)),
        }
    }
}
