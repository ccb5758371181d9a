//! Raw objects of the bucket, for backup and restore.

use aws_sdk_s3::error::SdkError;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt as _;

use crate::{ResumeStore, ResumeStoreError};

/// Key and type of an object, without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectInfo {
    /// Key in the bucket.
    pub key: String,
    /// Stored `Content-Type`.
    pub content_type: Option<String>,
}

impl ResumeStore {
    /// Lists all keys with this prefix, in order.
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

    /// Reads an object and its content; `None` if the key does not exist.
    ///
    /// # Errors
    ///
    /// If the store returns an error other than "no such key".
    pub async fn object(&self, key: &str) -> Result<Option<(ObjectInfo, Vec<u8>)>, ResumeStoreError> {
        let get = self.client.get_object().bucket(&self.bucket).key(key);
        let object = match get.send().await {
            Ok(object) => object,
            Err(SdkError::ServiceError(error)) if error.err().is_no_such_key() => return Ok(None),
            Err(error) => return Err(ResumeStoreError::new("return the object", &error)),
        };
        let info = ObjectInfo {
            key: key.to_owned(),
            content_type: object.content_type,
        };
        let length = object.content_length.unwrap_or_default();
        let mut content = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        let read = object.body.into_async_read().read_to_end(&mut content).await;
        read.map_err(|error| ResumeStoreError::cut_off("return the object", &error))?;
        Ok(Some((info, content)))
    }

    /// Stores an object.
    ///
    /// # Errors
    ///
    /// If the store rejects it.
    pub async fn restore(&self, info: &ObjectInfo, content: Vec<u8>) -> Result<(), ResumeStoreError> {
        let content_type = info.content_type.as_deref();
        self.put_object(&info.key, content_type, content.into()).await
    }

    /// Whether the bucket has no objects or does not exist.
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
