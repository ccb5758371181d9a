//! The bucket's objects as they are: what a backup takes and a restore brings back.

use aws_sdk_s3::{
    config::http::HttpResponse,
    error::SdkError,
    operation::list_objects_v2::{ListObjectsV2Error, ListObjectsV2Output},
    primitives::ByteStream,
};
use aws_smithy_async::future::pagination_stream::PaginationStream;
use serde::{Deserialize, Serialize};

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

/// An object that is being read.
pub struct Object {
    /// What is known before its content came.
    pub info: ObjectInfo,
    content: ByteStream,
}

impl Object {
    /// The next piece of its content; `None` once there is no more.
    ///
    /// # Errors
    ///
    /// If the connection ends before the content does.
    pub async fn next(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, ResumeStoreError> {
        let piece = self.content.try_next().await;
        piece.map_err(|error| ResumeStoreError::cut_off("give the object", &error))
    }
}

/// All keys of the bucket, a page at a time.
pub struct Keys {
    pages: PaginationStream<Result<ListObjectsV2Output, SdkError<ListObjectsV2Error, HttpResponse>>>,
}

impl Keys {
    /// The next page; `None` once there is no more.
    ///
    /// # Errors
    ///
    /// If the store does not list the bucket.
    pub async fn next(&mut self) -> Result<Option<Vec<String>>, ResumeStoreError> {
        let Some(page) = self.pages.next().await else {
            return Ok(None);
        };
        let page = page.map_err(|error| ResumeStoreError::new("list the bucket", &error))?;
        let objects = page.contents.unwrap_or_default().into_iter();
        Ok(Some(objects.filter_map(|object| object.key).collect()))
    }
}

impl ResumeStore {
    /// All keys of the bucket, in their order.
    pub fn keys(&self) -> Keys {
        self.keys_below("")
    }

    /// All keys that begin so.
    pub(crate) fn keys_below(&self, prefix: impl Into<String>) -> Keys {
        let listing = self.client.list_objects_v2().bucket(&self.bucket).prefix(prefix);
        Keys {
            pages: listing.into_paginator().send(),
        }
    }

    /// Opens an object; `None` where there is none under this key.
    ///
    /// # Errors
    ///
    /// If the store answers anything but the object or its absence.
    pub async fn open(&self, key: &str) -> Result<Option<Object>, ResumeStoreError> {
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
        Ok(Some(Object {
            info,
            content: object.body,
        }))
    }

    /// Stores an object.
    ///
    /// # Errors
    ///
    /// If the store did not take it.
    pub async fn restore(&self, info: &ObjectInfo, content: Vec<u8>) -> Result<(), ResumeStoreError> {
        let put = self
            .client
            .put_object()
            .bucket(&self.bucket)
            .key(&info.key)
            .set_content_type(info.content_type.clone())
            .body(content.into())
            .send();
        put.await
            .map(drop)
            .map_err(|error| ResumeStoreError::new("take the object", &error))
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
