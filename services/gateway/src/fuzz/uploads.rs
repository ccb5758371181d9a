//! An application's multipart body, on its way to the careers service.

use std::num::NonZeroU32;

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Multipart, Request},
};
use bolero::check;
use futures_util::stream;
use http::{HeaderValue, StatusCode, header};
use site_proto::careers::v1::{ApplyRequest, Commit, apply_request::Part};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc,
};

use crate::{
    api::{Submission, parts},
    api_error::ApiError,
    pace::{LeastRate, Pace, Waiting},
    upload_body::UploadBody,
};

const ITERATIONS: usize = 50;
/// The service's limits are lower.
const FIELD_BYTES: usize = 128 * 1024;
const FILE_NAME_BYTES: usize = 1024;

/// What the careers service gets, and what the visitor is told where it is no commit.
struct Upload {
    sent: Vec<Part>,
    outcome: Result<parts::Forwarded, ApiError>,
}

async fn upload(body: Bytes, piece_bytes: usize) -> Upload {
    let pieces = (0..body.len()).step_by(piece_bytes);
    let pieces = pieces.map(move |from| body.slice(from..body.len().min(from + piece_bytes)));
    let body = UploadBody::new(Body::from_stream(stream::iter(pieces.map(Ok::<_, axum::Error>))));
    let pace = Pace::new(LeastRate(NonZeroU32::MIN), body.received(), Waiting::default());
    let mut request = Request::new(Body::new(body));
    let content_type = HeaderValue::from_static("multipart/form-data; boundary=x");
    request.headers_mut().insert(header::CONTENT_TYPE, content_type);
    let form = Multipart::from_request(request, &()).await.expect("multipart");
    let (mut head, ()) = Request::new(()).into_parts();
    let submission = Submission::from_request_parts(&mut head, &())
        .await
        .expect("no key");
    let (to, mut from) = mpsc::channel::<ApplyRequest>(4);
    let receiving = async {
        let mut sent = Vec::new();
        while let Some(request) = from.recv().await {
            sent.extend(request.part);
        }
        sent
    };
    let (outcome, sent) = tokio::join!(parts::forward(form, pace, submission, to), receiving);
    Upload { sent, outcome }
}

/// What was sent, with files in one piece, and without the key, which changes each hour.
fn whole(sent: &[Part]) -> Vec<Part> {
    let mut whole: Vec<Part> = Vec::new();
    for part in sent {
        match (whole.last_mut(), part) {
            (Some(Part::ResumeChunk(file)), Part::ResumeChunk(more)) => {
                *file = [&file[..], &more[..]].concat().into();
            }
            (_, Part::Commit(_)) => whole.push(Part::Commit(Commit::default())),
            _ => whole.push(part.clone()),
        }
    }
    whole
}

fn ensure_protocol(upload: &Upload, body_bytes: usize) {
    let is_committed = matches!(upload.outcome, Ok(parts::Forwarded::Application));
    let commits = upload.sent.iter().filter(|part| matches!(part, Part::Commit(_)));
    assert_eq!(commits.count(), usize::from(is_committed));
    assert_eq!(matches!(upload.sent.last(), Some(Part::Commit(_))), is_committed);
    let (mut is_begun, mut bytes) = (false, 0);
    for part in &upload.sent {
        match part {
            Part::Field(field) => {
                assert!(field.name > 0 && field.value.len() <= FIELD_BYTES);
                bytes += field.value.len();
            }
            Part::ResumeStart(start) => {
                assert!(start.file_name.len() <= FILE_NAME_BYTES);
                is_begun = true;
            }
            Part::ResumeChunk(chunk) => {
                assert!(is_begun && !chunk.is_empty());
                bytes += chunk.len();
            }
            Part::Commit(_) | Part::Attribution(_) => {}
        }
    }
    assert!(bytes <= body_bytes, "more was sent than came");
}

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().build().expect("a runtime")
}

/// The first byte says into how many pieces the rest is cut.
#[test]
fn whatever_body_comes_in_whatever_pieces_the_service_gets_a_form_by_the_protocol_or_the_visitor_a_refusal() {
    let runtime = runtime();
    check!(name = "uploads")
        .with_iterations(ITERATIONS)
        .with_max_len(1024)
        .for_each(|input: &[u8]| {
            let (&[cut], body) = input.split_first_chunk().unwrap_or((&[0], input));
            let body = Bytes::copy_from_slice(body);
            let [cut, in_one] = [1 + usize::from(cut), body.len().max(1)]
                .map(|piece_bytes| runtime.block_on(upload(body.clone(), piece_bytes)));
            for upload in [&cut, &in_one] {
                ensure_protocol(upload, body.len());
            }
            match (&cut.outcome, &in_one.outcome) {
                (Ok(_), Ok(_)) => assert_eq!(whole(&cut.sent), whole(&in_one.sent)),
                (Err(cut), Err(in_one)) => {
                    assert_eq!(cut.status(), in_one.status());
                    assert!((400..500).contains(&cut.status().as_u16()));
                    assert_ne!(cut.status(), StatusCode::REQUEST_TIMEOUT);
                }
                _ => panic!("it depends on where the body is cut"),
            }
        });
}
