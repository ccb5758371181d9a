//! What a virus scanner answers.

use bolero::check;

use crate::scanner::{ScanError, Verdict, parse};

const ITERATIONS: usize = 1000;

#[test]
fn whatever_a_scanner_answers_a_file_is_clean_by_one_answer_and_what_is_no_answer_is_shown_nowhere() {
    check!(name = "scanner-answers")
        .with_iterations(ITERATIONS)
        .for_each(|answer: &[u8]| match parse(answer) {
            Ok(Verdict::Clean) => assert_eq!(answer, b"stream: OK\0"),
            Ok(Verdict::Infected(signature)) => {
                assert_eq!(answer, format!("stream: {signature} FOUND\0").as_bytes());
            }
            Err(ScanError::Rejected(said)) => {
                assert!(said.ends_with("ERROR"));
                assert_eq!(answer, format!("{said}\0").as_bytes());
            }
            Err(error) => assert_eq!(error.to_string(), ScanError::Protocol.to_string()),
        });
}
