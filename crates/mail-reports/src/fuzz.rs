//! Fuzz targets: a mail in the mailbox that reports come to, and what is posted as a provider's. How they are run: docs/testing.md.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bolero::check;

use crate::{
    Mailgun, Postmark,
    mailgun::tests::{KEY, NOW, request},
    report_mail::{Reading, read},
};

const ITERATIONS: usize = 1000;
const PASSWORD: &str = "a password of a test, long enough";

#[test]
fn whatever_comes_to_the_mailbox_is_a_report_with_a_token_or_none() {
    check!(name = "bounce-reports")
        .with_iterations(ITERATIONS)
        .for_each(|mail: &[u8]| match read(mail) {
            Reading::Report(report) => {
                let is_of_a_token = |c: char| c.is_ascii_alphanumeric() || "-_.=".contains(c);
                assert!(!report.token.is_empty() && report.token.chars().all(is_of_a_token));
                assert!(!report.reason.contains('@'), "{}", report.reason);
            }
            Reading::Delayed | Reading::Other => {}
        });
}

#[test]
fn whatever_is_posted_is_a_report_without_an_address_in_its_words_or_none() {
    let (mailgun, postmark) = (
        Mailgun::new(KEY).expect("a key"),
        Postmark::new(PASSWORD).expect("a password"),
    );
    let authorization = format!("Basic {}", STANDARD.encode(format!("postmark:{PASSWORD}")));
    check!(name = "posted-reports")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let words = String::from_utf8_lossy(input);
            let posts = [
                mailgun.read(input, NOW),
                // Whatever stands beside a good signature.
                mailgun.read(request(&words, NOW).as_bytes(), NOW),
                postmark.read(&words, input),
                postmark.read(&authorization, input),
            ];
            for report in posts.into_iter().flatten().flat_map(|post| post.reports) {
                assert!(!report.reason.contains('@'), "{}", report.reason);
            }
        });
}
