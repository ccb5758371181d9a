//! Signed requests (Standard Webhooks 1.0.0) and their answers.

use bytes::Bytes;
use http::{Request, Uri, header};
use site_service::settings::{ExposeSecret, Secret};
use standardwebhooks::{HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP};
use time::OffsetDateTime;

use crate::{
    client::{Answer, retry_after},
    outgoing::Outgoing,
    sending_error::SendingError,
};

/// Minimum key length in Standard Webhooks.
const MIN_KEY_BYTES: usize = 24;
const PREFIX: &str = "whsec_";

/// Builds an endpoint's signed requests with its media type and body format.
pub struct Signed {
    signers: Vec<standardwebhooks::Webhook>,
    media_type: &'static str,
    body: fn(&Bytes) -> Result<Bytes, serde_json::Error>,
}

impl Signed {
    /// Every secret of the endpoint signs each request.
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
            // During a rotation, the receiver may know only the old or the new secret.
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

/// Returns the status of a successful answer, and an error for any other answer.
pub fn judge(answer: &Answer, now: OffsetDateTime) -> Result<u16, SendingError> {
    let status = answer.status.as_u16();
    if answer.status.is_success() {
        return Ok(status);
    }
    let after = retry_after(&answer.headers, now);
    Err(SendingError::Rejected { status, after })
}

fn signer(secret: &str) -> Option<standardwebhooks::Webhook> {
    let encoded = secret.strip_prefix(PREFIX)?;
    // Four characters of Base64 encode three bytes.
    let long_enough = encoded.trim_end_matches('=').len() * 3 / 4 >= MIN_KEY_BYTES;
    standardwebhooks::Webhook::new(secret)
        .ok()
        .filter(|_| long_enough)
}
