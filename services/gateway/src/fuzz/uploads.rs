//! Fuzz target: an arbitrary multipart body that arrives in pieces.

use axum::body::{Body, Bytes};
use bolero::check;
use futures_util::stream;
use http::StatusCode;
use site_proto::careers::v1::{ApplyRequest, apply_request::Part};
use tokio::{runtime::Builder, sync::mpsc};

use crate::{
    api::parts::{self, tests::forward_body},
    api_error::ApiError,
    uploads::tests::lone,
};

const ITERATIONS: usize = 50;
/// Size limit of an expanded input; larger than every limit of a part.
const EXPANDED_BYTES: usize = 192 * 1024;
/// Limit of pieces per input: thousands of one-byte pieces would be slow.
const MOST_PIECES: usize = 200;
/// First boundary of a body. Only bodies that begin with it are expanded.
const FIRST_BOUNDARY: &[u8] = b"--x\r\n";

struct Upload {
    sent: Vec<Part>,
    outcome: Result<parts::Forwarded, ApiError>,
}

/// Expands repetitions: a zero byte and a byte n repeat the byte before them for n KiB.
fn expanded(input: &[u8]) -> Vec<u8> {
    let mut expanded = Vec::new();
    let mut input = input.iter().copied();
    while let Some(byte) = input.next() {
        match (byte, expanded.last().copied()) {
            (0, Some(last)) => {
                let bytes = usize::from(input.next().unwrap_or_default()) * 1024;
                let length = (expanded.len() + bytes).min(EXPANDED_BYTES);
                expanded.resize(length.max(expanded.len()), last);
            }
            _ => expanded.push(byte),
        }
    }
    expanded
}

/// Forwards the body in pieces of `piece_bytes`, or larger ones if there would be more than [`MOST_PIECES`].
async fn upload(body: Bytes, piece_bytes: usize) -> Upload {
    let piece_bytes = piece_bytes.max(body.len() / MOST_PIECES);
    let pieces = (0..body.len()).step_by(piece_bytes);
    let pieces = pieces.map(move |from| body.slice(from..body.len().min(from + piece_bytes)));
    let body = Body::from_stream(stream::iter(pieces.map(Ok::<_, axum::Error>)));
    let (to, mut from) = mpsc::channel::<ApplyRequest>(4);
    let receiving = async {
        let mut sent = Vec::new();
        while let Some(request) = from.recv().await {
            sent.extend(request.part);
        }
        sent
    };
    let (outcome, sent) = tokio::join!(forward_body(body, lone(), to), receiving);
    Upload { sent, outcome }
}

fn ensure_protocol(upload: &Upload, body_bytes: usize) {
    let is_committed = matches!(upload.outcome, Ok(parts::Forwarded::Application));
    let commits = upload.sent.iter().filter(|part| matches!(part, Part::Commit(_)));
    assert_eq!(commits.count(), usize::from(is_committed));
    assert_eq!(matches!(upload.sent.last(), Some(Part::Commit(_))), is_committed);
    let (mut is_begun, mut bytes) = (false, 0);
    for part in &upload.sent {
        match part {
            Part::ResumeStart(_) => is_begun = true,
            Part::ResumeChunk(chunk) => {
                assert!(is_begun && !chunk.is_empty());
                bytes += chunk.len();
            }
            Part::Commit(_) => {}
        }
    }
    assert!(bytes <= body_bytes, "more was sent than came");
    if let Err(refused) = &upload.outcome {
        assert!((400..500).contains(&refused.status().as_u16()));
        assert_ne!(refused.status(), StatusCode::REQUEST_TIMEOUT);
    }
}

/// The first byte of the input sets the size of the pieces.
#[test]
fn any_body_becomes_valid_requests_or_a_refusal() {
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    check!(name = "uploads")
        .with_iterations(ITERATIONS)
        .with_max_len(1024)
        .for_each(|input: &[u8]| {
            let (&[cut], body) = input.split_first_chunk().unwrap_or((&[0], input));
            let body = if body.starts_with(FIRST_BOUNDARY) {
                Bytes::from(expanded(body))
            } else {
                Bytes::copy_from_slice(body)
            };
            let bytes = body.len();
            ensure_protocol(&runtime.block_on(upload(body, 1 + usize::from(cut))), bytes);
        });
}
