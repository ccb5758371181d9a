//! Signed requests (Standard Webhooks 1.0.0) and their answers.

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, Uri, header};
use site_broker::Remedy;
use site_service::settings::{ExposeSecret, Secret};
use standardwebhooks::{HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP};
use time::OffsetDateTime;

use crate::{
    client::{Answer, retry_after},
    outgoing::Outgoing,
    sending_error::SendingError,
};

/// Shortest key of the specification.
const MIN_KEY_BYTES: usize = 24;
const PREFIX: &str = "whsec_";

/// Format of an endpoint's signed requests: media type and body of an event.
pub struct Signed {
    signers: Vec<standardwebhooks::Webhook>,
    media_type: &'static str,
    body: fn(&Bytes) -> Result<Bytes, serde_json::Error>,
}

impl Signed {
    /// Signs with each of the endpoint's secrets.
    pub fn new(
        secrets: &[Secret],
        media_type: &'static str,
        body: fn(&Bytes) -> Result<Bytes, serde_json::Error>,
    ) -> Result<Self, &'static str> {
        let signers = secrets.iter().map(|secret| signer(secret.expose_secret()));
        let signers = signers.collect::<Option<_>>();
        Ok(Self {
            signers: signers
                .ok_or("a secret is whsec_ and at least 24 bytes in base64; one of its is not")?,
            media_type,
            body,
        })
    }

    pub fn request(
        &self,
        uri: &Uri,
        event: &Outgoing,
        now: OffsetDateTime,
    ) -> Result<Request<Bytes>, SendingError> {
        let content = (self.body)(&event.payload)?;
        let mut request = Request::post(uri).header(header::CONTENT_TYPE, self.media_type);
        if !self.signers.is_empty() {
            let (id, timestamp) = (event.id.to_string(), now.unix_timestamp());
            // One signature per secret, so that the receiver may know the old or the new one.
            let signed = self
                .signers
                .iter()
                .map(|signer| signer.sign(&id, timestamp, &content));
            let signatures: Result<Vec<_>, _> = signed.collect();
            let signatures = signatures.map_err(|_| SendingError::Signing)?;
            request = request
                .header(HEADER_WEBHOOK_ID, id)
                .header(HEADER_WEBHOOK_TIMESTAMP, timestamp)
                .header(HEADER_WEBHOOK_SIGNATURE, signatures.join(" "));
        }
        request.body(content).map_err(|_| SendingError::Signing)
    }
}

/// The status of a successful answer.
pub fn judge(answer: &Answer, now: OffsetDateTime) -> Result<u16, SendingError> {
    match answer.status {
        status if status.is_success() => Ok(status.as_u16()),
        StatusCode::GONE => Err(SendingError::Gone),
        status => Err(status_error(status.as_u16(), &answer.headers, now)),
    }
}

/// A final rejection stays final, even with `Retry-After`.
fn status_error(status: u16, headers: &HeaderMap, now: OffsetDateTime) -> SendingError {
    let refused = SendingError::Status(status);
    match retry_after(headers, now) {
        Some(after) if refused.remedy() != Remedy::DeadLetter => SendingError::Later { status, after },
        _ => refused,
    }
}

fn signer(secret: &str) -> Option<standardwebhooks::Webhook> {
    let encoded = secret.strip_prefix(PREFIX)?;
    // Base64 has three bytes in four characters.
    let long_enough = encoded.trim_end_matches('=').len() * 3 / 4 >= MIN_KEY_BYTES;
    standardwebhooks::Webhook::new(secret)
        .ok()
        .filter(|_| long_enough)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_final_rejection_stays_final_with_retry_after() {
        let headers = HeaderMap::from_iter([(header::RETRY_AFTER, HeaderValue::from_static("60"))]);
        let now = datetime!(2026-11-23 12:00 UTC);
        assert_eq!(status_error(400, &headers, now).remedy(), Remedy::DeadLetter);
        assert!(matches!(
            status_error(429, &headers, now),
            SendingError::Later { status: 429, .. }
        ));
    }
}
