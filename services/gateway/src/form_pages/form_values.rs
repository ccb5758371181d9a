//! Form values: the visitor's input, kept until the request is answered.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Form, FromRequest, Multipart, Request},
};
use futures_util::{StreamExt, stream};
use http::{HeaderValue, header};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// Fits all text fields. An application's résumé comes after them.
const MAX_KEPT_BYTES: usize = 512 * 1024;
/// Time to receive the text fields; a page omits those that arrive later.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Texts by field name. Files are left out, because a page cannot prefill a file field.
pub type FormValues = BTreeMap<String, String>;

pub struct KeptBody {
    content_type: Option<HeaderValue>,
    bytes: Vec<u8>,
    is_whole: bool,
    _permit: OwnedSemaphorePermit,
}

impl KeptBody {
    /// Copies the beginning of the body, or nothing if `room` is used up. The returned request has the whole body.
    pub async fn of(request: Request, room: &Arc<Semaphore>) -> (Request, Option<Self>) {
        let Ok(permit) = Arc::clone(room).try_acquire_owned() else {
            return (request, None);
        };
        let (parts, body) = request.into_parts();
        let mut body = body.into_data_stream();
        let (mut pieces, mut bytes, mut is_whole) = (Vec::new(), Vec::new(), false);
        let reading = async {
            while bytes.len() < MAX_KEPT_BYTES && !is_whole {
                let piece = body.next().await;
                is_whole = piece.is_none();
                if let Some(Ok(piece)) = &piece {
                    bytes.extend_from_slice(piece);
                }
                pieces.extend(piece);
            }
        };
        let _late = timeout(READ_TIMEOUT, reading).await;
        let kept = Self {
            content_type: parts.headers.get(header::CONTENT_TYPE).cloned(),
            bytes,
            is_whole,
            _permit: permit,
        };
        let body = Body::from_stream(stream::iter(pieces).chain(body));
        (Request::from_parts(parts, body), Some(kept))
    }

    pub async fn values(self) -> FormValues {
        let is_multipart = |kind: &HeaderValue| kind.as_bytes().starts_with(b"multipart/");
        let texts = if self.content_type.as_ref().is_some_and(is_multipart) {
            self.texts_of_parts().await
        } else {
            self.texts_of_pairs().await
        };
        texts.unwrap_or_default()
    }

    async fn texts_of_pairs(mut self) -> Option<FormValues> {
        if !self.is_whole {
            let end = self.bytes.iter().rposition(|byte| *byte == b'&')?;
            self.bytes.truncate(end);
        }
        let texts = Form::<Vec<(String, String)>>::from_request(self.into_request()?, &()).await;
        Some(texts.ok()?.0.into_iter().collect())
    }

    async fn texts_of_parts(self) -> Option<FormValues> {
        let parts = Multipart::from_request(self.into_request()?, &()).await;
        let (mut parts, mut texts) = (parts.ok()?, FormValues::new());
        while let Ok(Some(part)) = parts.next_field().await {
            let name = part.name().map(str::to_owned);
            let is_file = part.file_name().is_some();
            if let (Some(name), false, Ok(text)) = (name, is_file, part.text().await) {
                texts.insert(name, text);
            }
        }
        Some(texts)
    }

    fn into_request(self) -> Option<Request> {
        let request = Request::post("/").header(header::CONTENT_TYPE, self.content_type?);
        request.body(Body::from(self.bytes)).ok()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    fn request(body: Body) -> Request {
        let content_type = "application/x-www-form-urlencoded";
        let request = Request::post("/").header(header::CONTENT_TYPE, content_type);
        request.body(body).expect("a request")
    }

    fn room() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(1))
    }

    #[tokio::test]
    async fn complete_fields_of_a_too_large_body_are_kept() {
        let chunks = [
            "name=Ada&message=".to_owned(),
            "x".repeat(MAX_KEPT_BYTES),
            "x".to_owned(),
        ];
        let chunks = stream::iter(chunks.map(Ok::<_, std::io::Error>));
        let request = request(Body::from_stream(chunks));
        let (request, kept) = KeptBody::of(request, &room()).await;
        let went_on = to_bytes(request.into_body(), usize::MAX).await.expect("a body");
        assert_eq!(went_on.len(), "name=Ada&message=x".len() + MAX_KEPT_BYTES);
        let values = kept.expect("there is room").values().await;
        assert_eq!(values.get("name").map(String::as_str), Some("Ada"));
        assert_eq!(values.get("message"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stalled_body_yields_its_complete_fields() {
        let begun = stream::iter([Ok::<_, std::io::Error>("name=Ada&message=Hel")]).chain(stream::pending());
        let (_request, kept) = KeptBody::of(request(Body::from_stream(begun)), &room()).await;
        let values = kept.expect("there is room").values().await;
        assert_eq!(values.get("name").map(String::as_str), Some("Ada"));
        assert_eq!(values.get("message"), None);
    }

    #[tokio::test]
    async fn kept_bodies_are_limited() {
        let room = room();
        let keep = || KeptBody::of(request("name=Ada".into()), &room);
        let (_, kept) = keep().await;
        assert!(kept.is_some() && keep().await.1.is_none());
        drop(kept);
        assert!(keep().await.1.is_some());
    }
}
