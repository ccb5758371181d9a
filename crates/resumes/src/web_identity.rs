//! Web identity (IRSA, workload identity): the platform gives a process a token and a role. STS exchanges
//! them for short sessions.

use std::{env, time::Duration};

use aws_config::{provider_config::ProviderConfig, web_identity_token::WebIdentityTokenCredentialsProvider};
use aws_sdk_s3::config::Region;

use crate::{S3Settings, https};

/// Lifetime of a session, which is the default of STS (AssumeRoleWithWebIdentity).
pub(crate) const SESSION: Duration = Duration::from_secs(60 * 60);

/// Whether this process has a web identity, so that it needs no keys.
pub fn has_web_identity() -> bool {
    let names = ["AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"];
    names.iter().all(|name| env::var_os(name).is_some())
}

/// Sessions from the STS of the bucket's region or of `AWS_ENDPOINT_URL_STS`. Each session rereads the token.
pub(crate) fn sessions(settings: &S3Settings) -> WebIdentityTokenCredentialsProvider {
    let config = ProviderConfig::without_region()
        .with_region(Some(Region::new(settings.s3_region.clone())))
        .with_http_client(https::client(&settings.s3_endpoint, settings.s3_ca_file.as_ref()));
    WebIdentityTokenCredentialsProvider::builder()
        .configure(&config)
        .build()
}
