//! Forwards each multipart part of an application to the careers service as it arrives.

use std::{
    pin::pin,
    sync::{
        Arc,
        mpsc::{SyncSender, TryRecvError, sync_channel},
    },
    task::Poll,
};

use axum::{
    body::{Body, BodyDataStream, Bytes},
    extract::{
        FromRequest, Multipart, Request,
        multipart::{Field as FormPart, MultipartError},
    },
};
use futures_util::{FutureExt, StreamExt, stream};
use http::StatusCode;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use site_proto::{
    Form as _,
    careers::v1::{ApplicationForm, ApplyRequest, Commit, ResumeStart, apply_request::Part},
};
use tokio::sync::mpsc;

use super::{Submission, read_json};
use crate::{api_error::ApiError, uploads::Upload};

/// Limit of a text field, and of a part's headers. The careers service has lower limits for texts.
const MAX_BUFFERED_BYTES: usize = 128 * 1024;
const RESUME: &str = "resume";

pub enum Forwarded {
    Application,
    /// A robot's form. The service gets no commit for it.
    Spam,
}

/// Forwards the form's parts, then the commit. A closed receiver means that the service has rejected the form.
///
/// # Errors
///
/// If the form cannot be read or a part is too large.
pub async fn forward(
    mut form: Multipart,
    mut arrivals: Arrivals,
    mut submission: Submission,
    to: mpsc::Sender<ApplyRequest>,
) -> Result<Forwarded, ApiError> {
    let empty = json!(ApplicationForm::default());
    let mut fields = Map::new();
    // Hashes the file only if the idempotency key is derived from it.
    let mut file = submission.key.is_none().then(Sha256::new);
    while let Some(mut part) = arrivals.parse(form.next_field()).await? {
        let name = part.name().unwrap_or_default().to_owned();
        if name == RESUME {
            forward_resume(&mut part, &mut arrivals, &mut file, &to).await?;
            continue;
        }
        let value = match empty.get(&name) {
            Some(Value::String(_)) => arrivals.text(part).await?.into(),
            Some(_) => read_json(arrivals.text(part).await?.as_bytes())?,
            None => {
                while arrivals.chunk(&mut part).await?.is_some() {}
                continue;
            }
        };
        fields.insert(name, value);
    }
    let form = ApplicationForm::deserialize(Value::Object(fields));
    let mut form = form.map_err(|_| ApiError::of(StatusCode::BAD_REQUEST))?;
    if form.is_spam() {
        return Ok(Forwarded::Spam);
    }
    let commit = Commit {
        idempotency_key: submission.complete("career-application", &mut form, file),
        form: Some(form),
    };
    send(&to, Part::Commit(commit)).await;
    Ok(Forwarded::Application)
}

/// Skips the part without name and content that browsers send if no file is chosen.
async fn forward_resume(
    part: &mut FormPart<'_>,
    arrivals: &mut Arrivals,
    digest: &mut Option<Sha256>,
    to: &mpsc::Sender<ApplyRequest>,
) -> Result<(), ApiError> {
    let file_name = decoded_file_name(part.file_name().unwrap_or_default());
    let mut next = arrivals.chunk(part).await?;
    if file_name.is_empty() && next.is_none() {
        return Ok(());
    }
    send(to, Part::ResumeStart(ResumeStart { file_name })).await;
    while let Some(bytes) = next {
        if let Some(digest) = digest {
            digest.update(&bytes);
        }
        send(to, Part::ResumeChunk(bytes)).await;
        next = arrivals.chunk(part).await?;
    }
    Ok(())
}

/// Decodes quotation marks and line breaks, which are all that browsers encode in file names (HTML Standard,
/// "multipart/form-data encoding algorithm").
fn decoded_file_name(encoded: &str) -> String {
    encoded
        .replace("%22", "\"")
        .replace("%0D", "\r")
        .replace("%0A", "\n")
}

/// Ignores a closed receiver, because the service has already answered, and the visitor gets its answer.
async fn send(to: &mpsc::Sender<ApplyRequest>, part: Part) {
    let _gone = to.send(ApplyRequest { part: Some(part) }).await;
}

/// Feeds the body to the multipart parser piece by piece, on demand, because the parser buffers all it can read.
pub struct Arrivals {
    body: BodyDataStream,
    /// Queue to the parser; `None` after the last piece.
    pieces: Option<SyncSender<Result<Bytes, axum::Error>>>,
    upload: Arc<Upload>,
}

impl Arrivals {
    /// Returns the form's parser and its source of pieces. Reads nothing yet.
    ///
    /// # Errors
    ///
    /// If the body is no multipart form.
    pub async fn begin(request: Request, upload: Arc<Upload>) -> Result<(Multipart, Self), ApiError> {
        let (parts, body) = request.into_parts();
        let (pieces, queue) = sync_channel(1);
        let queue = stream::poll_fn(move |_| match queue.try_recv() {
            Ok(piece) => Poll::Ready(Some(piece)),
            Err(TryRecvError::Empty) => Poll::Pending,
            Err(TryRecvError::Disconnected) => Poll::Ready(None),
        });
        let form = Multipart::from_request(Request::from_parts(parts, Body::from_stream(queue)), &()).await;
        let arrivals = Self {
            body: body.into_data_stream(),
            pieces: Some(pieces),
            upload,
        };
        Ok((form.map_err(|_| ApiError::of(StatusCode::BAD_REQUEST))?, arrivals))
    }

    async fn parse<T>(
        &mut self,
        parsing: impl Future<Output = Result<T, MultipartError>>,
    ) -> Result<T, ApiError> {
        let mut parsing = pin!(parsing);
        let mut buffered_bytes = 0;
        loop {
            if let Some(parsed) = parsing.as_mut().now_or_never() {
                return parsed.map_err(unreadable);
            }
            let Some(pieces) = &self.pieces else {
                return Err(ApiError::of(StatusCode::BAD_REQUEST));
            };
            if buffered_bytes > MAX_BUFFERED_BYTES {
                return Err(ApiError::of(StatusCode::PAYLOAD_TOO_LARGE));
            }
            let Some(piece) = self.body.next().await else {
                self.pieces = None;
                continue;
            };
            let bytes = piece.as_ref().map_or(0, Bytes::len);
            buffered_bytes += bytes;
            self.upload.arrived(bytes);
            // Cannot fail: the parser has consumed the previous piece.
            let _sent = pieces.try_send(piece);
        }
    }

    async fn text(&mut self, part: FormPart<'_>) -> Result<String, ApiError> {
        let text = self.parse(part.text()).await?;
        if text.len() > MAX_BUFFERED_BYTES {
            return Err(ApiError::of(StatusCode::PAYLOAD_TOO_LARGE));
        }
        Ok(text)
    }

    /// Returns the part's next bytes; `None` at its end, where the parser may return an empty chunk.
    async fn chunk(&mut self, part: &mut FormPart<'_>) -> Result<Option<Bytes>, ApiError> {
        let chunk = self.parse(part.chunk()).await?;
        Ok(chunk.filter(|bytes| !bytes.is_empty()))
    }
}

/// Answers a truncated or malformed body with 4xx, even if the parser reports a server error.
fn unreadable(error: MultipartError) -> ApiError {
    let status = Some(error.status()).filter(StatusCode::is_client_error);
    ApiError::of(status.unwrap_or(StatusCode::BAD_REQUEST))
}

#[cfg(test)]
pub mod tests {
    use std::iter;

    use axum::extract::FromRequestParts;
    use http::header;

    use super::*;
    use crate::uploads::tests::lone;

    const PIECE: &[u8] = &[b'a'; 16 * 1024];

    pub async fn forward_body(
        body: Body,
        upload: Arc<Upload>,
        to: mpsc::Sender<ApplyRequest>,
    ) -> Result<Forwarded, ApiError> {
        let mut request = Request::new(body);
        let content_type = header::HeaderValue::from_static("multipart/form-data; boundary=x");
        request.headers_mut().insert(header::CONTENT_TYPE, content_type);
        let (form, arrivals) = Arrivals::begin(request, upload).await?;
        let (mut head, ()) = Request::new(()).into_parts();
        let submission = Submission::from_request_parts(&mut head, &()).await;
        forward(form, arrivals, submission.expect("no key"), to).await
    }

    #[tokio::test]
    async fn an_empty_file_field_sends_no_file() {
        let body = "--x\r\nContent-Disposition: form-data; name=\"resume\"; filename=\"\"\r\n\
                    Content-Type: application/octet-stream\r\n\r\n\r\n--x--\r\n";
        let (to, mut from) = mpsc::channel(4);
        let forwarded = forward_body(Body::from(body), lone(), to).await;
        assert!(matches!(forwarded, Ok(Forwarded::Application)));
        let first = from.recv().await.and_then(|request| request.part);
        assert!(matches!(first, Some(Part::Commit(_))), "{first:?}");
    }

    #[tokio::test]
    async fn a_file_name_is_decoded_as_browsers_encode_it() {
        for (sent, called) in [
            ("%22The%22 Rao.pdf", "\"The\" Rao.pdf"),
            ("\\\"The\\\" Rao.pdf", "\"The\" Rao.pdf"),
            ("one%0D%0Atwo%0A.pdf", "one\r\ntwo\n.pdf"),
            ("100%25 %C3%A9 %.pdf", "100%25 %C3%A9 %.pdf"),
            ("Résumé 简历.pdf", "Résumé 简历.pdf"),
        ] {
            let body = format!(
                "--x\r\nContent-Disposition: form-data; name=\"resume\"; filename=\"{sent}\"\r\n\r\n%PDF-\r\n--x--\r\n"
            );
            let (to, mut from) = mpsc::channel(4);
            let forwarded = forward_body(Body::from(body), lone(), to).await;
            assert!(matches!(forwarded, Ok(Forwarded::Application)));
            let first = from.recv().await.and_then(|request| request.part);
            let expected = ResumeStart {
                file_name: called.to_owned(),
            };
            assert_eq!(first, Some(Part::ResumeStart(expected)));
        }
    }

    #[tokio::test]
    async fn an_endless_part_head_is_refused_before_it_is_buffered() {
        for first in [&b"--x\r\n"[..], b"x"] {
            let pieces = iter::once(first).chain(iter::repeat_n(PIECE, 100));
            let body = Body::from_stream(stream::iter(pieces.map(Ok::<_, axum::Error>)));
            let received = lone();
            let (to, _from) = mpsc::channel(1);

            let forwarded = forward_body(body, Arc::clone(&received), to).await;
            let refused = forwarded.map(drop).expect_err("no part begins");
            assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
            assert!(received.bytes() < 192 * 1024, "{}", received.bytes());
        }
    }
}
