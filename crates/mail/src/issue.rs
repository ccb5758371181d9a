//! Template values of a newsletter issue.

use minijinja::{Value, context};
use site_events::event::{Audience, NewsletterIssueRequested};

/// Template values of an issue for one subscriber. `unsubscribe` is the subscriber's link.
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
