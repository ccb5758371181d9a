//! Fuzz target: an application's form, encoded as browsers do.

use axum::body::Bytes;
use bolero::check;
use encoding_rs::UTF_8;
use http::StatusCode;
use site_proto::{
    attribution::v1::Attribution,
    careers::v1::{Commit, Field, FieldName, ResumeStart, apply_request::Part},
};

use super::forwarding::{HELD_BYTES, expanded, is_beginning, runtime, upload, whole};
use crate::api::parts::Forwarded;

const ITERATIONS: usize = 50;
/// Names that are always accepted or always too large. In between, the result depends on the pieces.
const RIGHT_NAME_BYTES: usize = 60 * 1024;
const LARGE_NAME_BYTES: usize = 160 * 1024;
/// Line break after the form's end, which may be missing.
const END_BYTES: usize = 2;
const FIELDS: [(&str, FieldName); 6] = [
    ("name", FieldName::Name),
    ("email", FieldName::Email),
    ("phone", FieldName::Phone),
    ("position", FieldName::Position),
    ("experience", FieldName::Experience),
    ("coverLetter", FieldName::CoverLetter),
];

#[derive(Default)]
struct Form {
    body: Vec<u8>,
    parts: Vec<Part>,
    attribution: Option<Attribution>,
    is_spam: bool,
    is_refused: bool,
}

impl Form {
    /// A line is a part: the first byte selects the field, the rest is its content. A file's name ends at a vertical
    /// bar.
    fn of(input: &[u8]) -> Self {
        let mut form = Self::default();
        for line in input.split(|byte| *byte == b'\n') {
            match line.split_first() {
                Some((field @ b'0'..=b'5', value)) => form.field(usize::from(field - b'0'), value),
                Some((b'r', file)) => form.resume(file),
                Some((b'a', page)) => form.attribution(&String::from_utf8_lossy(page)),
                Some((b'w', value)) => {
                    form.part("name=\"website\"", value);
                    form.is_refused |= is_refused(value);
                    form.is_spam |= !value.is_empty();
                }
                Some((_, value)) => form.part("name=\"other\"", value),
                None => {}
            }
        }
        form.body.extend_from_slice(b"--x--\r\n");
        form
    }

    fn part(&mut self, head: &str, content: &[u8]) {
        self.body
            .extend_from_slice(format!("--x\r\nContent-Disposition: form-data; {head}\r\n\r\n").as_bytes());
        self.body.extend_from_slice(content);
        self.body.extend_from_slice(b"\r\n");
    }

    /// Parts after a rejection are not expected.
    fn gets(&mut self, part: Part) {
        if !self.is_refused {
            self.parts.push(part);
        }
    }

    fn field(&mut self, number: usize, value: &[u8]) {
        let (name, field) = FIELDS[number];
        self.part(&format!("name=\"{name}\""), value);
        self.is_refused |= is_refused(value);
        self.gets(Part::Field(Field {
            name: field.into(),
            value: UTF_8.decode(value).0.into_owned(),
        }));
    }

    fn resume(&mut self, file: &[u8]) {
        let end = file.iter().position(|byte| *byte == b'|').unwrap_or(file.len());
        let name = String::from_utf8_lossy(&file[..end]);
        let mut name: String = name
            .chars()
            .filter(|c| c.is_alphanumeric() || " ._-".contains(*c))
            .collect();
        if name.len() < LARGE_NAME_BYTES {
            name.truncate(name.floor_char_boundary(RIGHT_NAME_BYTES));
        }
        let content = file.get(end + 1..).unwrap_or_default();
        self.part(&format!("name=\"resume\"; filename=\"{name}\""), content);
        self.is_refused |= name.len() >= LARGE_NAME_BYTES;
        if name.is_empty() && content.is_empty() {
            return;
        }
        self.gets(Part::ResumeStart(ResumeStart { file_name: name }));
        if !content.is_empty() {
            self.gets(Part::ResumeChunk(Bytes::copy_from_slice(content)));
        }
    }

    fn attribution(&mut self, page: &str) {
        let told = serde_json::json!({ "page": page }).to_string();
        self.part("name=\"attribution\"", told.as_bytes());
        self.is_refused |= is_refused(told.as_bytes());
        self.attribution = Some(Attribution {
            page: page.to_owned(),
            ..Attribution::default()
        });
    }

    fn whole(&self) -> Vec<Part> {
        let attribution = self.attribution.clone().map(Part::Attribution);
        let end = attribution.into_iter().chain([Part::Commit(Commit::default())]);
        let is_whole = !self.is_spam && !self.is_refused;
        self.parts
            .iter()
            .cloned()
            .chain(end.filter(|_| is_whole))
            .collect()
    }
}

fn is_refused(text: &[u8]) -> bool {
    UTF_8.decode(text).0.len() > HELD_BYTES
}

/// The first byte sets the size of the pieces, the second the end of the body in 256ths.
#[test]
fn whatever_form_is_sent_the_service_gets_its_parts_in_order_and_all_of_them_where_it_is_committed() {
    let runtime = runtime();
    check!(name = "upload-forms")
        .with_iterations(ITERATIONS)
        .with_max_len(1024)
        .for_each(|input: &[u8]| {
            let (&[cut, end], lines) = input.split_first_chunk().unwrap_or((&[0, 0], &[]));
            let form = Form::of(&expanded(lines));
            let mut body = Bytes::copy_from_slice(&form.body);
            if end > 0 {
                body.truncate(body.len() * usize::from(end) / 256);
            }
            let is_cut = body.len() + END_BYTES < form.body.len();
            let upload = runtime.block_on(upload(body, 1 + 64 * usize::from(cut)));
            let (sent, expected) = (whole(&upload.sent), form.whole());
            match upload.outcome {
                Ok(Forwarded::Application) => {
                    assert!(
                        !form.is_spam && !is_cut,
                        "what is no whole application is committed"
                    );
                    assert!(sent == expected, "other parts are sent");
                }
                Ok(Forwarded::Spam) => assert!(form.is_spam),
                Err(refused) => {
                    assert!(is_cut || form.is_refused, "{:?}", refused.status());
                    let statuses = [StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE];
                    assert!(statuses.contains(&refused.status()), "{:?}", refused.status());
                }
            }
            assert!(is_beginning(&sent, &expected), "other parts are sent");
        });
}
