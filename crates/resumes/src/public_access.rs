//! Public access: whether the bucket is open to requests without credentials.

use aws_sdk_s3::{
    Client,
    config::http::HttpResponse,
    error::{ProvideErrorMetadata, SdkError},
};

use crate::{ResumeStore, ResumeStoreError, S3Settings, config};

impl ResumeStore {
    /// Whether anybody may list the bucket, or read what lies in it: asked without credentials.
    ///
    /// # Errors
    ///
    /// If the store answers neither yes nor no.
    pub async fn is_public(settings: &S3Settings) -> Result<bool, ResumeStoreError> {
        let anybody = Client::from_conf(config(settings).allow_no_auth().build());
        let anybody = Self::over(settings, anybody);
        if forbidden_as_none(anybody.first_key().await)?.is_some() {
            return Ok(true);
        }
        let ours = Self::new(settings).first_key().await;
        let Some(key) = ours.map_err(|error| ResumeStoreError::new("list the bucket", &error))? else {
            return Ok(false);
        };
        let head = anybody.client.head_object().bucket(&anybody.bucket).key(key);
        forbidden_as_none(head.send().await).map(|head| head.is_some())
    }
}

/// What a request without credentials got, or `None` where it was refused.
fn forbidden_as_none<T, E>(
    answer: Result<T, SdkError<E, HttpResponse>>,
) -> Result<Option<T>, ResumeStoreError>
where
    E: std::error::Error + ProvideErrorMetadata + 'static,
{
    match answer {
        Ok(got) => Ok(Some(got)),
        Err(error) if error.raw_response().is_some_and(is_refusal) => Ok(None),
        Err(error) => Err(ResumeStoreError::new("say whether it is public", &error)),
    }
}

fn is_refusal(response: &HttpResponse) -> bool {
    matches!(response.status().as_u16(), 401 | 403)
}
