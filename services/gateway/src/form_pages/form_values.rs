//! Form values: what a visitor entered, read from the body as it passes, so that it is there whatever becomes of the
//! request.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::{Form, FromRequest, Multipart, Request},
};
use http::{HeaderValue, Method, header};
use http_body_util::BodyExt;
use hyper::body::Frame;
use site_service::{
    address_limit::{AddressLimit, AddressPermit},
    drain::Drain,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{stopping::RECEIVING_ENDS, unread_body::SharedBody};

/// How much of a body is kept: the longest message and some. A résumé comes after the texts.
const MAX_RECORDED_BYTES: usize = 512 * 1024;
/// How many bodies are kept at once. Beyond that, forms work and are shown empty: a flood cannot fill the memory.
const MAX_RECORDERS: usize = 32;
/// How many of one address, so that it cannot take them all.
const MAX_RECORDERS_PER_ADDRESS: usize = 4;
/// How long to wait for the rest of a body that was refused before it was read.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Values of a form: texts by the names of their fields. Files are no part of it: a page cannot put one into its field.
#[derive(Default)]
pub struct FormValues(BTreeMap<String, String>);

impl FormValues {
    /// What was entered into a field.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.0.get(field).map(String::as_str)
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for FormValues {
    fn from(texts: [(&str, &str); N]) -> Self {
        Self(
            texts
                .map(|(name, text)| (name.to_owned(), text.to_owned()))
                .into(),
        )
    }
}

/// Gives out recorders, a bounded number at once.
#[derive(Clone)]
pub struct BodyRecorders {
    all: Arc<Semaphore>,
    per_address: AddressLimit,
}

impl Default for BodyRecorders {
    fn default() -> Self {
        Self {
            all: Arc::new(Semaphore::new(MAX_RECORDERS)),
            per_address: AddressLimit::new(MAX_RECORDERS_PER_ADDRESS),
        }
    }
}

impl BodyRecorders {
    /// The visitor's request with its body recorded, and what records it; none where too many are recorded already.
    pub fn record(&self, visitor: IpAddr, request: Request) -> (Request, Option<BodyRecorder>) {
        let of_address = self.per_address.try_acquire(visitor);
        let (Some(of_address), Ok(permit)) = (of_address, Arc::clone(&self.all).try_acquire_owned()) else {
            return (request, None);
        };
        let content_type = request.headers().get(header::CONTENT_TYPE).cloned();
        let (parts, body) = request.into_parts();
        let kept = Arc::<Mutex<Vec<u8>>>::default();
        let keeping = Arc::clone(&kept);
        let body = body.inspect_frame(move |frame| keep(&keeping, frame));
        let body = SharedBody::new(Body::new(body));
        let request = Request::from_parts(parts, Body::new(body.clone()));
        let recorder = BodyRecorder {
            body,
            kept,
            content_type,
            _permits: (permit, of_address),
        };
        (request, Some(recorder))
    }
}

/// What records a body.
pub struct BodyRecorder {
    body: SharedBody,
    kept: Arc<Mutex<Vec<u8>>>,
    content_type: Option<HeaderValue>,
    _permits: (OwnedSemaphorePermit, AddressPermit),
}

impl BodyRecorder {
    /// What was entered. Where the request was refused before its body was read, the start of it is read now, unless the
    /// gateway stops.
    pub async fn values(mut self, drain: &Drain) -> FormValues {
        // What has not come by then is left out.
        tokio::select! {
            biased;
            () = drain.left(RECEIVING_ENDS) => {}
            _late = timeout(READ_TIMEOUT, self.body.discard(MAX_RECORDED_BYTES)) => {}
        }
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        let Some(content_type) = self.content_type else {
            return FormValues::default();
        };
        let texts = if content_type.as_bytes().starts_with(b"multipart/") {
            texts_of_parts(content_type, kept).await
        } else {
            texts_of_pairs(content_type, kept).await
        };
        FormValues(texts.unwrap_or_default())
    }
}

fn body_of(content_type: HeaderValue, bytes: Vec<u8>) -> Request {
    let mut request = Request::new(Body::from(bytes));
    *request.method_mut() = Method::POST;
    request.headers_mut().insert(header::CONTENT_TYPE, content_type);
    request
}

async fn texts_of_pairs(content_type: HeaderValue, mut bytes: Vec<u8>) -> Option<BTreeMap<String, String>> {
    if bytes.len() >= MAX_RECORDED_BYTES {
        // The last field was cut.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'&')?);
    }
    let Form(texts) = Form::<Vec<(String, String)>>::from_request(body_of(content_type, bytes), &())
        .await
        .ok()?;
    Some(texts.into_iter().collect())
}

/// All texts up to a part that was cut.
async fn texts_of_parts(content_type: HeaderValue, bytes: Vec<u8>) -> Option<BTreeMap<String, String>> {
    let mut parts = Multipart::from_request(body_of(content_type, bytes), &())
        .await
        .ok()?;
    let mut texts = BTreeMap::new();
    while let Ok(Some(part)) = parts.next_field().await {
        let name = part.name().map(str::to_owned);
        let is_file = part.file_name().is_some();
        if let (Some(name), false, Ok(text)) = (name, is_file, part.text().await) {
            texts.insert(name, text);
        }
    }
    Some(texts)
}

/// Keeps the first bytes of a body as they pass.
fn keep(kept: &Mutex<Vec<u8>>, frame: &Frame<Bytes>) {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let free = MAX_RECORDED_BYTES.saturating_sub(kept.len());
    let bytes = frame.data_ref().map_or(&[][..], AsRef::as_ref);
    kept.extend_from_slice(&bytes[..bytes.len().min(free)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: &str = "application/x-www-form-urlencoded";

    fn visitor(number: u8) -> IpAddr {
        IpAddr::from([203, 0, 113, number])
    }

    async fn values(content_type: &'static str, body: Vec<u8>) -> FormValues {
        let request = body_of(HeaderValue::from_static(content_type), body);
        let (_unread, recorder) = BodyRecorders::default().record(visitor(1), request);
        let drain = Drain::of(&http::Extensions::new());
        recorder.expect("one is free").values(&drain).await
    }

    #[tokio::test]
    async fn what_was_refused_before_it_was_read_is_known_all_the_same() {
        let values = values(PAIRS, b"name=Zo%C3%AB+M&message=a%0D%0Ab".into()).await;
        assert_eq!(values.text("name"), Some("Zoë M"));
        assert_eq!(values.text("message"), Some("a\r\nb"));
        assert_eq!(values.text("email"), None);
    }

    #[tokio::test]
    async fn of_what_is_too_large_the_fields_that_came_whole_are_kept() {
        let large = format!("name=Ada&message={}", "x".repeat(2 * MAX_RECORDED_BYTES));
        let values = values(PAIRS, large.into()).await;
        assert_eq!(values.text("name"), Some("Ada"));
        assert_eq!(values.text("message"), None);
    }

    #[tokio::test]
    async fn files_are_not_kept_and_cut_parts_left_out() {
        let part = |head: &str, value: &str| {
            format!("--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}\r\n")
        };
        let body = [
            part("name=\"name\"", "Ada"),
            part("name=\"resume\"; filename=\"cv.pdf\"", &"x".repeat(1000)),
            part("name=\"phone\"", "1").split_at(50).0.to_owned(),
        ];
        let values = values("multipart/form-data; boundary=x", body.concat().into()).await;
        assert_eq!(values.text("name"), Some("Ada"));
        assert_eq!(values.text("resume"), None);
        assert_eq!(values.text("phone"), None);
    }

    #[tokio::test]
    async fn no_more_bodies_are_recorded_at_once_than_the_limit() {
        let recorders = BodyRecorders::default();
        let record = |number| {
            let request = body_of(HeaderValue::from_static(PAIRS), b"name=Ada".into());
            recorders.record(visitor(number), request).1
        };
        let of_one: Vec<_> = (0..MAX_RECORDERS_PER_ADDRESS).map(|_| record(0)).collect();
        assert!(of_one.iter().all(Option::is_some));
        assert!(record(0).is_none(), "of one address");
        let of_others: Vec<_> = (1..).map(record).take_while(Option::is_some).collect();
        assert_eq!(of_one.len() + of_others.len(), MAX_RECORDERS);
        drop(of_one);
        assert!(record(0).is_some());
    }
}
