//! What a provider's request says, whichever provider's it is.

use site_events::event::BounceKind;
use uuid::Uuid;
use visitor::EmailAddress;

use crate::enhanced_status::is_no_such_address;

/// The namespace of requests.
const POSTS: Uuid = Uuid::from_u128(0x6f63_756c_616e_7400_8000_006d_6169_6c70);

/// A request that is the provider's.
#[derive(Debug, PartialEq, Eq)]
pub struct Post {
    /// Its name: a repetition has the same, another request another one.
    pub id: Uuid,
    /// What becomes of a repetition.
    pub repetition: Repetition,
    /// What it reports; none where it tells of something else, such as a mail that was delivered or is still tried.
    pub reports: Vec<PostedReport>,
}

/// What becomes of a request that was taken before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// It changes nothing, and is taken.
    Harmless,
    /// It is refused if it says something else: its signature is good for one report.
    Refused,
}

/// That a mail to somebody came back, or that they complained.
#[derive(Debug, PartialEq, Eq)]
pub struct PostedReport {
    /// Whose mail it was.
    pub email: EmailAddress,
    /// What kind of refusal it tells of.
    pub kind: BounceKind,
    /// The provider's word for it, without an address.
    pub reason: String,
}

/// Why nothing is concluded of a request.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PostError {
    /// Its signature or password is not the provider's.
    #[error("it is not known to be the provider's")]
    Forged,
    /// It was signed longer ago than requests are repeated.
    #[error("it was signed too long ago, or our clock is wrong")]
    Stale,
    /// It is the provider's, and not what it documents.
    #[error("it is not what the provider documents (line {}, column {})", .0.line, .0.column)]
    Unreadable(Place),
}

/// A place in a document.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    line: usize,
    column: usize,
}

impl From<serde_json::Error> for PostError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(Place {
            line: error.line(),
            column: error.column(),
        })
    }
}

impl Post {
    /// A request of this provider under this name, with at most one report.
    pub fn new(provider: &str, name: &str, repetition: Repetition, report: Option<PostedReport>) -> Self {
        Self {
            id: Uuid::new_v5(&POSTS, format!("{provider} {name}").as_bytes()),
            repetition,
            reports: report.into_iter().collect(),
        }
    }
}

impl PostedReport {
    /// A report about this address, unless it is none that we could have sent to.
    pub fn new(email: &str, kind: BounceKind, provider: &str, word: &str) -> Option<Self> {
        let is_of_a_word = |c: &char| c.is_ascii_alphanumeric() || "-._".contains(*c);
        let word: String = word.chars().filter(is_of_a_word).take(40).collect();
        Some(Self {
            email: EmailAddress::parse(email).ok()?,
            kind,
            reason: format!("reported by {provider}: {word}"),
        })
    }
}

/// What a refusal for good comes to: by its status, where there is one, or else by the provider's own word.
pub fn refusal(status: Option<&str>, is_hard: bool) -> BounceKind {
    if status.map_or(is_hard, is_no_such_address) {
        BounceKind::Hard
    } else {
        BounceKind::Soft
    }
}
