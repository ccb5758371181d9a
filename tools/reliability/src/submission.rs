//! Submissions with known ids: what each sends, and how it is found again.

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

/// The namespace under which a run's seed and a number become an idempotency key.
const KEYS: Uuid = Uuid::from_u128(0x6f63_756c_616e_7400_8000_6368_616f_7300);
/// The first address of a visitor.
const VISITORS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// The names of the visitors, in turns.
const NAMES: [&str; 3] = ["Ada Lovelace", "Zoë Müller", "Conan O'Brien"];
/// How a résumé comes from a visitor with a slow line: in up to half a second.
const SLOW_CHUNK_BYTES: usize = 8 * 1024;
const SLOW_PAUSE: Duration = Duration::from_millis(50);

/// Which form is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormKind {
    /// A contact message.
    Contact,
    /// A sign-up to the newsletter.
    Newsletter,
    /// An application with a résumé.
    Application,
}

impl FormKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Contact, Self::Newsletter, Self::Application];
}

/// One form that one visitor sends, however often.
#[derive(Debug, Clone, Copy)]
pub struct Submission {
    /// Unique in its run.
    pub number: u32,
    /// What is sent.
    pub kind: FormKind,
    /// The size of an application's résumé.
    pub resume_bytes: usize,
    /// The browser's name for it.
    pub key: Uuid,
}

impl Submission {
    /// The submission of this number in the run of this seed.
    pub fn new(seed: u64, number: u32, kind: FormKind, resume_bytes: usize) -> Self {
        Self {
            number,
            kind,
            resume_bytes,
            key: Uuid::new_v5(&KEYS, format!("{seed}/{number}").as_bytes()),
        }
    }

    /// The address of the visitor, who sends nothing else: by it the event is found again.
    pub fn email(self) -> String {
        format!("visitor-{}@run.example", self.number)
    }

    /// What the visitor enters, by the names that the form and its event have for it.
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

    /// Digest of the résumé, where it has one.
    pub fn resume_digest(self) -> Option<[u8; 32]> {
        (self.kind == FormKind::Application).then(|| digest(&self.resume()))
    }

    /// The request, as the browser of a visitor with an address of their own sends it.
    pub fn request(self, http: &Client, site: &str) -> RequestBuilder {
        self.request_with(http, site, Body::from)
    }

    /// The same over a line on which the résumé takes its time.
    pub fn slow_request(self, http: &Client, site: &str) -> RequestBuilder {
        self.request_with(http, site, trickle)
    }

    /// The request by which the visitor confirms a sign-up, with what the mailed link carries.
    pub fn confirmation(self, http: &Client, site: &str, token: &str) -> RequestBuilder {
        http.post(format!("{site}/api/newsletter/confirm"))
            .header("x-forwarded-for", self.visitor().to_string())
            .json(&json!({ "token": token }))
    }

    /// The network address of the visitor.
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

    /// A PDF that no other submission has, and as any other no text (ISO 32000-1, 7.5.2): mails hold it in base64.
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
