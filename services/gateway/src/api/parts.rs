//! From multipart to gRPC: each part of an application goes on as it arrives.

use std::time::SystemTime;

use axum::{
    body::Bytes,
    extract::{Multipart, multipart::Field as FormPart},
};
use http::StatusCode;
use site_proto::careers::v1::{ApplyRequest, Commit, Field, FieldName, ResumeStart, apply_request::Part};
use tokio::sync::mpsc;

use super::{HONEYPOT, Submission, json, part_text};
use crate::{api_error::ApiError, submission_key::SubmissionKey, upload_body::Arrivals};

/// The most bytes of one text field that are taken in; the service's limits are lower.
const FIELD_BYTES: usize = 128 * 1024;
/// The most bytes of a file's name that go on: its end, where the ending is. The service keeps less.
const FILE_NAME_BYTES: usize = 1024;
const RESUME: &str = "resume";
const ATTRIBUTION: &str = "attribution";

/// What was forwarded.
pub enum Forwarded {
    /// All parts, and the commit.
    Application,
    /// A robot's parts, without a commit.
    Spam,
}

/// Forwards the whole form, and the commit once it was all there. Stops early where the
/// receiver is gone: then the service has refused already.
///
/// # Errors
///
/// If the form cannot be read, or a part of it is too large.
pub async fn forward(
    mut form: Multipart,
    mut arrivals: Arrivals,
    mut submission: Submission,
    to: mpsc::Sender<ApplyRequest>,
) -> Result<Forwarded, ApiError> {
    let mut spam = false;
    let mut attribution = None;
    let mut key = submission.key("career-application");
    while let Some(mut part) = arrivals.parse(form.next_field()).await? {
        match part.name().unwrap_or_default() {
            RESUME => forward_resume(&mut part, &mut arrivals, &mut key, &to).await?,
            ATTRIBUTION => attribution = Some(json::read(text(&mut part, &mut arrivals).await?.as_bytes())?),
            HONEYPOT => spam |= !text(&mut part, &mut arrivals).await?.is_empty(),
            other => match field_name(other) {
                Some(name) => {
                    let value = text(&mut part, &mut arrivals).await?;
                    key.set(name.as_str_name(), &value);
                    let name = name.into();
                    send(&to, Part::Field(Field { name, value })).await;
                }
                None => while chunk(&mut part, &mut arrivals).await?.is_some() {},
            },
        }
    }
    if spam {
        return Ok(Forwarded::Spam);
    }
    if let Some(attribution) = submission.attribution(attribution) {
        send(&to, Part::Attribution(attribution)).await;
    }
    let commit = Commit {
        idempotency_key: key.finish(SystemTime::now()).to_string(),
    };
    send(&to, Part::Commit(commit)).await;
    Ok(Forwarded::Application)
}

/// A browser sends a part without name and content where no file was chosen.
async fn forward_resume(
    part: &mut FormPart<'_>,
    arrivals: &mut Arrivals,
    key: &mut SubmissionKey,
    to: &mpsc::Sender<ApplyRequest>,
) -> Result<(), ApiError> {
    let file_name = decoded_file_name(part.file_name().unwrap_or_default());
    let kept_from = file_name.ceil_char_boundary(file_name.len().saturating_sub(FILE_NAME_BYTES));
    let file_name = file_name[kept_from..].to_owned();
    let first = chunk(part, arrivals).await?;
    if file_name.is_empty() && first.is_none() {
        return Ok(());
    }
    send(to, Part::ResumeStart(ResumeStart { file_name })).await;
    let mut next = first;
    while let Some(bytes) = next {
        key.add(RESUME, &bytes);
        send(to, Part::ResumeChunk(bytes)).await;
        next = chunk(part, arrivals).await?;
    }
    Ok(())
}

/// Browsers encode a quotation mark and line breaks in a file's name, and nothing else (HTML Standard, "multipart/form-data encoding
/// algorithm").
fn decoded_file_name(encoded: &str) -> String {
    encoded
        .replace("%22", "\"")
        .replace("%0D", "\r")
        .replace("%0A", "\n")
}

/// Where the receiver is gone, the service has refused and its answer is what counts.
async fn send(to: &mpsc::Sender<ApplyRequest>, part: Part) {
    let _gone = to.send(ApplyRequest { part: Some(part) }).await;
}

async fn text(part: &mut FormPart<'_>, arrivals: &mut Arrivals) -> Result<String, ApiError> {
    let mut bytes = Vec::new();
    while let Some(more) = chunk(part, arrivals).await? {
        if bytes.len() + more.len() > FIELD_BYTES {
            return Err(ApiError::of(StatusCode::PAYLOAD_TOO_LARGE));
        }
        bytes.extend_from_slice(&more);
    }
    part_text::decode(part.content_type(), &bytes).ok_or_else(|| ApiError::of(StatusCode::BAD_REQUEST))
}

/// The next bytes of a part. The parser ends some parts by a piece without any, which is none.
async fn chunk(part: &mut FormPart<'_>, arrivals: &mut Arrivals) -> Result<Option<Bytes>, ApiError> {
    loop {
        let chunk = arrivals.parse(part.chunk()).await?;
        if chunk.as_ref().is_none_or(|bytes| !bytes.is_empty()) {
            return Ok(chunk);
        }
    }
}

fn field_name(name: &str) -> Option<FieldName> {
    Some(match name {
        "name" => FieldName::Name,
        "email" => FieldName::Email,
        "phone" => FieldName::Phone,
        "position" => FieldName::Position,
        "experience" => FieldName::Experience,
        "coverLetter" => FieldName::CoverLetter,
        _ => return None,
    })
}

#[cfg(test)]
pub mod tests {
    use std::{iter, net::Ipv4Addr, sync::Arc};

    use axum::{
        body::Body,
        extract::{FromRequestParts, Request},
    };
    use futures_util::stream;
    use http::header;

    use super::*;
    use crate::uploads::Upload;

    const PIECE: &[u8] = &[b'a'; 16 * 1024];

    /// An upload that nobody waits for.
    pub fn no_place() -> Arc<Upload> {
        Arc::new(Upload::of(Ipv4Addr::LOCALHOST.into()))
    }

    /// What a body is sent on as.
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
    async fn where_no_file_was_chosen_none_is_sent_on() {
        let body = "--x\r\nContent-Disposition: form-data; name=\"resume\"; filename=\"\"\r\n\
                    Content-Type: application/octet-stream\r\n\r\n\r\n--x--\r\n";
        let (to, mut from) = mpsc::channel(4);
        let forwarded = forward_body(Body::from(body), no_place(), to).await;
        assert!(matches!(forwarded, Ok(Forwarded::Application)));
        let first = from.recv().await.and_then(|request| request.part);
        assert!(matches!(first, Some(Part::Commit(_))), "{first:?}");
    }

    #[tokio::test]
    async fn a_file_is_called_what_its_owner_calls_it() {
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
            let forwarded = forward_body(Body::from(body), no_place(), to).await;
            assert!(matches!(forwarded, Ok(Forwarded::Application)));
            let first = from.recv().await.and_then(|request| request.part);
            let expected = ResumeStart {
                file_name: called.to_owned(),
            };
            assert_eq!(first, Some(Part::ResumeStart(expected)));
        }
    }

    #[tokio::test]
    async fn a_part_whose_head_does_not_end_or_begin_is_given_up_before_much_of_it_is_held() {
        for first in [&b"--x\r\n"[..], b"x"] {
            let pieces = iter::once(first).chain(iter::repeat_n(PIECE, 100));
            let body = Body::from_stream(stream::iter(pieces.map(Ok::<_, axum::Error>)));
            let received = no_place();
            let (to, _from) = mpsc::channel(1);

            let forwarded = forward_body(body, Arc::clone(&received), to).await;
            let refused = forwarded.map(drop).expect_err("no part begins");
            assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
            assert!(received.bytes() < 128 * 1024, "{}", received.bytes());
        }
    }

    #[tokio::test]
    async fn many_small_parts_have_nothing_held_of_what_comes_behind_them() {
        const FIELDS: usize = 200;
        let fields = "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAsha\r\n".repeat(FIELDS);
        let file = "--x\r\nContent-Disposition: form-data; name=\"resume\"; filename=\"cv.pdf\"\r\n\r\n";
        let beginning = fields + file;
        let pieces = std::iter::once(Bytes::from(beginning.clone()));
        let pieces = pieces.chain(std::iter::repeat_n(Bytes::from_static(PIECE), 1000));
        let body = Body::from_stream(stream::iter(pieces.map(Ok::<_, axum::Error>)));
        let received = no_place();
        let (to, mut from) = mpsc::channel(1);
        let receiving = async {
            for _ in 0..FIELDS {
                from.recv().await.expect("a field");
            }
            received.bytes()
        };
        let received = tokio::select! {
            received = receiving => received,
            _ = forward_body(body, Arc::clone(&received), to) => panic!("its fields are not received yet"),
        };
        let behind = received as usize - beginning.len();
        assert!(behind <= 2 * PIECE.len(), "{behind} bytes are held");
    }
}
