//! Fuzz target: a mail in the mailbox that reports come to. How it is run: docs/testing.md.

use bolero::check;

use super::report::{Reading, read};

const ITERATIONS: usize = 1000;

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
