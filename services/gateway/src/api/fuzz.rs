//! Fuzz target: what browsers report of the Content Security Policy, and what others send in their place. How it is run:
//! docs/testing.md.

use bolero::check;
use serde_json::json;

use super::policy_violation::{MAX_VIOLATIONS, PolicyViolation, read_legacy, read_queued};

const ITERATIONS: usize = 300;
/// Twice as many as are counted, and some.
const MOST_TIMES: u8 = 50;

/// The same violation in both kinds of reports, the gathered one so many times.
fn reported(directive: &str, blocked: &str, document: &str, times: usize) -> [Vec<PolicyViolation>; 2] {
    let legacy = json!({
        "csp-report": {"effective-directive": directive, "blocked-uri": blocked, "document-uri": document}
    });
    let queued = json!({
        "type": "csp-violation",
        "body": {"effectiveDirective": directive, "blockedURL": blocked, "documentURL": document},
    });
    let queued = json!(vec![queued; times]);
    [
        read_legacy(legacy.to_string().as_bytes()).expect("a report"),
        read_queued(queued.to_string().as_bytes()).expect("reports"),
    ]
}

/// Scheme and authority of an address, as it stands there.
fn origin(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    Some(&address[..scheme.len() + "://".len() + authority.len()]).filter(|_| !authority.is_empty())
}

/// The first byte says how often it is reported; the lines are the directive, what was refused, and on which page.
#[test]
fn whatever_is_reported_it_is_counted_in_words_of_ours_and_no_more_often_than_a_page_causes() {
    check!(name = "policy-violations")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            for read in [read_legacy(input), read_queued(input)] {
                assert!(read.is_none_or(|violations| violations.len() <= MAX_VIOLATIONS));
            }
            let (&[times], lines) = input.split_first_chunk().unwrap_or((&[1], &[]));
            let times = usize::from(times % MOST_TIMES);
            let text = String::from_utf8_lossy(lines);
            let mut lines = text.split('\n');
            let [directive, blocked, document] = [(); 3].map(|()| lines.next().unwrap_or_default());
            let [legacy, queued] = reported(directive, blocked, document, times);
            let [violation] = &legacy[..] else {
                panic!("one report is one violation");
            };
            assert_eq!(queued.len(), times.min(MAX_VIOLATIONS));
            assert!(queued.iter().all(|other| other == violation));
            let known = violation.directive;
            assert!(known == "other" || directive.starts_with(known), "{known}");
            if violation.blocked == "site" {
                let [blocked, document] = [blocked, document].map(origin);
                assert!(blocked.is_some(), "what has no address is of the site");
                let is_same = blocked
                    .zip(document)
                    .is_some_and(|(blocked, document)| blocked.eq_ignore_ascii_case(document));
                assert!(is_same, "{blocked:?} is of {document:?}");
            }
        });
}
