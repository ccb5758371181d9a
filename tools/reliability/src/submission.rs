//! Submissions with known ids.

use std::{collections::HashMap, net::Ipv4Addr, time::Duration};

use reqwest::{
    Body, Client, RequestBuilder,
    multipart::{Form, Part},
};
use serde_json::json;
use sha2::{Digest, Sha256};
use testkit::measure::pdf;
use tokio_util::bytes::Bytes;
use uuid::Uuid;

/// Namespace of idempotency keys.
const KEYS: Uuid = Uuid::from_u128(0x6f63_756c_616e_7400_8000_6368_616f_7300);
const VISITORS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const NAMES: [&str; 3] = ["Ada Lovelace", "Zoë Müller", "Conan O'Brien"];
/// A résumé over a slow connection takes up to half a second.
const SLOW_CHUNK_BYTES: usize = 8 * 1024;
const SLOW_PAUSE: Duration = Duration::from_millis(50);

/// Form of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormKind {
    /// Contact message.
    Contact,
    /// Newsletter sign-up.
    Newsletter,
    /// Application with a résumé.
    Application,
}

impl FormKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Contact, Self::Newsletter, Self::Application];
}

/// Form of one visitor; retries send the same form.
#[derive(Debug, Clone, Copy)]
pub struct Submission {
    /// Unique in a run.
    pub number: u32,
    /// Kind.
    pub kind: FormKind,
    /// Size of the résumé.
    pub resume_bytes: usize,
    /// Idempotency key.
    pub key: Uuid,
}

impl Submission {
    /// Submission by run and number.
    pub fn new(seed: u64, number: u32, kind: FormKind, resume_bytes: usize) -> Self {
        Self {
            number,
            kind,
            resume_bytes,
            key: Uuid::new_v5(&KEYS, format!("{seed}/{number}").as_bytes()),
        }
    }

    /// Address of the visitor, unique in a run: it identifies the event.
    pub fn email(self) -> String {
        format!("visitor-{}@run.example", self.number)
    }

    /// Entered fields, named as in the form and the event.
    pub fn fields(self) -> Vec<(&'static str, String)> {
        let number = self.number;
        let name = NAMES[number as usize % NAMES.len()].to_owned();
        let email = self.email();
        match self.kind {
            FormKind::Newsletter => vec![("email", email)],
            FormKind::Contact => vec![
                ("name", name),
                ("email", email),
                (
                    "message",
                    format!("Number {number} asks for two cameras.\n.\nGrüße"),
                ),
            ],
            FormKind::Application => vec![
                ("name", name),
                ("email", email),
                ("position", "Backend Intern".to_owned()),
                ("coverLetter", format!("Number {number} applies.\n\nMerci à vous")),
            ],
        }
    }

    /// SHA-256 of the résumé.
    pub fn resume_digest(self) -> Option<[u8; 32]> {
        (self.kind == FormKind::Application).then(|| digest(&self.resume()))
    }

    /// Request of a browser with its own network address.
    pub fn request(self, http: &Client, site: &str) -> RequestBuilder {
        self.request_with(http, site, Body::from)
    }

    /// Same as [`Self::request`], with a slow upload.
    pub fn slow_request(self, http: &Client, site: &str) -> RequestBuilder {
        self.request_with(http, site, trickle)
    }

    /// Confirmation with the mailed token.
    pub fn confirmation(self, http: &Client, site: &str, token: &str) -> RequestBuilder {
        http.post(format!("{site}/api/newsletter/confirm"))
            .header("x-forwarded-for", self.visitor().to_string())
            .json(&json!({ "token": token }))
    }

    fn visitor(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(VISITORS.to_bits() + self.number)
    }

    fn request_with(self, http: &Client, site: &str, body: impl Fn(Bytes) -> Body) -> RequestBuilder {
        let path = match self.kind {
            FormKind::Contact => "contact",
            FormKind::Newsletter => "newsletter",
            FormKind::Application => "career-application",
        };
        let post = http
            .post(format!("{site}/api/{path}"))
            .header("x-forwarded-for", self.visitor().to_string())
            .header("idempotency-key", self.key.to_string());
        let fields = self.fields().into_iter();
        match self.kind {
            FormKind::Contact | FormKind::Newsletter => post.json(&fields.collect::<HashMap<_, _>>()),
            FormKind::Application => {
                let resume = Bytes::from(self.resume());
                let length = resume.len() as u64;
                let part = Part::stream_with_length(body(resume), length).file_name("resume.pdf");
                let form = fields.fold(Form::new(), |form, (field, value)| form.text(field, value));
                post.multipart(form.part("resume", part))
            }
        }
    }

    /// Unique PDF, not text (ISO 32000-1, 7.5.2), so that mails encode it in base64.
    fn resume(self) -> Vec<u8> {
        let mut file = pdf(self.resume_bytes);
        let mark = [
            b"%\xe2\xe3\xcf\xd3\n%",
            format!("{:010}\n", self.number).as_bytes(),
        ]
        .concat();
        let at = "%PDF-1.7\n".len();
        file[at..at + mark.len()].copy_from_slice(&mark);
        file
    }
}

/// SHA-256.
pub fn digest(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

fn trickle(content: Bytes) -> Body {
    let chunks = futures_util::stream::unfold(content, async |mut rest| {
        if rest.is_empty() {
            return None;
        }
        tokio::time::sleep(SLOW_PAUSE).await;
        let chunk = rest.split_to(rest.len().min(SLOW_CHUNK_BYTES));
        Some((Ok::<_, std::io::Error>(chunk), rest))
    });
    Body::wrap_stream(chunks)
}
