//! An issue of the newsletter, as its templates take it.

use minijinja::{Value, context};
use site_events::event::{Audience, NewsletterIssueRequested};

/// What the mail of an issue shows to whoever can leave by this link.
pub fn issue_values(issue: &NewsletterIssueRequested, unsubscribe: &str) -> Value {
    context! {
        subject => &issue.subject,
        preview => &issue.preview,
        html => &issue.html,
        text => &issue.text,
        web => issue.web.as_deref(),
        is_test => issue.audience == Audience::Test,
        unsubscribe => unsubscribe,
    }
}
