//! Check for public access to the bucket.

use std::error::Error;

use aws_sdk_s3::{
    Client,
    error::{ProvideErrorMetadata, SdkError},
};

use crate::{ResumeStore, ResumeStoreError, S3Settings, config};

impl ResumeStore {
    /// Whether a request without credentials may list the bucket or read an object.
    ///
    /// # Errors
    ///
    /// If the store answers neither success nor 401/403.
    pub async fn is_public(settings: &S3Settings) -> Result<bool, ResumeStoreError> {
        let anybody = Client::from_conf(config(settings).allow_no_auth().build());
        let anybody = Self::over(settings, anybody);
        if is_allowed(anybody.first_key().await)? {
            return Ok(true);
        }
        let ours = Self::new(settings).first_key().await;
        let Some(key) = ours.map_err(|error| ResumeStoreError::new("list the bucket", &error))? else {
            return Ok(false);
        };
        let head = anybody.client.head_object().bucket(&anybody.bucket).key(key);
        is_allowed(head.send().await)
    }
}

fn is_allowed<T, E: Error + ProvideErrorMetadata + 'static>(
    answer: Result<T, SdkError<E>>,
) -> Result<bool, ResumeStoreError> {
    let status = |error: &SdkError<E>| error.raw_response().map(|answer| answer.status().as_u16());
    match answer {
        Ok(_) => Ok(true),
        Err(error) if matches!(status(&error), Some(401 | 403)) => Ok(false),
        Err(error) => Err(ResumeStoreError::new("say whether it is public", &error)),
    }
}
