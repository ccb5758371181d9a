//! Fuzz target: an arbitrary multipart body.

use axum::body::Bytes;
use bolero::check;
use http::StatusCode;
use site_proto::careers::v1::apply_request::Part;

use super::forwarding::{HELD_BYTES, Upload, expanded, is_beginning, runtime, upload, whole};
use crate::api::parts;

const ITERATIONS: usize = 50;
/// Without a first part, the search for one would take most of the time.
const FIRST_BOUNDARY: &[u8] = b"--x\r\n";

fn ensure_protocol(upload: &Upload, body_bytes: usize) {
    let is_committed = matches!(upload.outcome, Ok(parts::Forwarded::Application));
    let commits = upload.sent.iter().filter(|part| matches!(part, Part::Commit(_)));
    assert_eq!(commits.count(), usize::from(is_committed));
    assert_eq!(matches!(upload.sent.last(), Some(Part::Commit(_))), is_committed);
    let (mut is_begun, mut bytes) = (false, 0);
    for part in &upload.sent {
        match part {
            Part::Field(field) => {
                assert!(field.name > 0 && field.value.len() <= HELD_BYTES);
                bytes += field.value.chars().count();
            }
            Part::ResumeStart(_) => is_begun = true,
            Part::ResumeChunk(chunk) => {
                assert!(is_begun && !chunk.is_empty());
                bytes += chunk.len();
            }
            Part::Commit(_) | Part::Attribution(_) => {}
        }
    }
    assert!(bytes <= body_bytes, "more was sent than came");
}

/// Whether the parser notices oversized headers in a large body depends on the pieces.
fn ensure_the_same(cut: &Upload, in_one: &Upload, body_bytes: usize) {
    let (one, other) = (whole(&cut.sent), whole(&in_one.sent));
    match (&cut.outcome, &in_one.outcome) {
        (Ok(_), Ok(_)) => assert!(one == other, "other parts are sent"),
        (Err(cut), Err(in_one)) if body_bytes < HELD_BYTES => assert_eq!(cut.status(), in_one.status()),
        (Err(_), Err(_)) => {}
        (Err(refused), Ok(_)) | (Ok(_), Err(refused)) => {
            assert!(
                body_bytes > HELD_BYTES && refused.status() == StatusCode::PAYLOAD_TOO_LARGE,
                "it depends on where the body is cut"
            );
        }
    }
    assert!(
        is_beginning(&one, &other) || is_beginning(&other, &one),
        "other parts are sent"
    );
}

/// The first byte sets the size of the pieces.
#[test]
fn whatever_body_comes_in_whatever_pieces_the_service_gets_a_form_by_the_protocol_or_the_visitor_a_refusal() {
    let runtime = runtime();
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
            let [cut, in_one] = [1 + usize::from(cut), body.len().max(1)]
                .map(|piece_bytes| runtime.block_on(upload(body.clone(), piece_bytes)));
            for upload in [&cut, &in_one] {
                ensure_protocol(upload, body.len());
                if let Err(refused) = &upload.outcome {
                    assert!((400..500).contains(&refused.status().as_u16()));
                    assert_ne!(refused.status(), StatusCode::REQUEST_TIMEOUT);
                }
            }
            ensure_the_same(&cut, &in_one, body.len());
        });
}
