//! Harness: forwards an upload in pieces and collects the parts.

use axum::body::{Body, Bytes};
use futures_util::stream;
use site_proto::careers::v1::{ApplyRequest, Commit, apply_request::Part};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc,
};

use crate::{
    api::parts::{self, tests::forward_body},
    api_error::ApiError,
    uploads::tests::lone,
};

/// Limit of a text or a part's headers.
pub const HELD_BYTES: usize = 128 * 1024;
/// Exceeds every limit of a part.
const EXPANDED_BYTES: usize = 192 * 1024;
/// For inputs that would arrive byte by byte.
const MOST_PIECES: usize = 200;

pub struct Upload {
    pub sent: Vec<Part>,
    pub outcome: Result<parts::Forwarded, ApiError>,
}

/// Expands repetitions: zero and a number n repeat the byte before them for n KiB.
pub fn expanded(input: &[u8]) -> Vec<u8> {
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

/// Uses larger pieces if there would be too many.
pub async fn upload(body: Bytes, piece_bytes: usize) -> Upload {
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

/// Joins file chunks, and clears the key, which changes each hour.
pub fn whole(sent: &[Part]) -> Vec<Part> {
    let mut whole: Vec<Part> = Vec::new();
    let mut file: Vec<u8> = Vec::new();
    for part in sent {
        if let Part::ResumeChunk(chunk) = part {
            file.extend_from_slice(chunk);
            continue;
        }
        whole.extend(taken(&mut file));
        whole.push(match part {
            Part::Commit(_) => Part::Commit(Commit::default()),
            part => part.clone(),
        });
    }
    whole.extend(taken(&mut file));
    whole
}

fn taken(file: &mut Vec<u8>) -> Option<Part> {
    let content = std::mem::take(file);
    (!content.is_empty()).then(|| Part::ResumeChunk(content.into()))
}

/// The last file of `parts` may be cut off.
pub fn is_beginning(parts: &[Part], all: &[Part]) -> bool {
    let Some((last, before)) = parts.split_last() else {
        return true;
    };
    if parts.len() > all.len() || before != &all[..before.len()] {
        return false;
    }
    match (last, &all[before.len()]) {
        (Part::ResumeChunk(part), Part::ResumeChunk(whole)) => whole.starts_with(part),
        (last, same) => last == same,
    }
}

pub fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().build().expect("a runtime")
}
