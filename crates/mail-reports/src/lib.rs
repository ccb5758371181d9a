//! Reports of mails that came back, and of complaints: those that mail servers send, and those that mail providers post.
//!
//! Without I/O: [`report_mail`] reads a mail, the others one request of their provider, and say whether it is the provider's.

mod enhanced_status;
#[cfg(test)]
mod fuzz;
mod mailgun;
mod posted;
mod postmark;
pub mod report_mail;
mod ses;

pub use mailgun::Mailgun;
pub use posted::{Post, PostError, PostedReport, Repetition};
pub use postmark::Postmark;
pub use ses::{SesTopic, SnsMessage, SnsPost};
