//! Fuzz target: the visitor's input in the page of a form. How to run it: docs/testing.md.

use std::collections::BTreeMap;

use bolero::check;
use http::StatusCode;

use super::{filling::fill, form_values::FormValues};
use crate::api_error::ApiError;

const ITERATIONS: usize = 500;
/// ASCII record separator.
const RECORD: u8 = 0x1e;

/// Decodes an element or a quoted attribute as browsers do; `None` if the text breaks out.
fn read(text: &str) -> Option<String> {
    let is_text = !text.contains(['<', '>', '"']);
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"");
    is_text.then(|| text.replace("&amp;", "&"))
}

/// Two records: a text, and a service's sentence, which may repeat it.
#[test]
fn whatever_was_entered_it_is_shown_as_text_and_the_page_stays_as_it_is() {
    check!(name = "form-pages")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let mut records = input
                .splitn(2, |byte| *byte == RECORD)
                .map(String::from_utf8_lossy);
            let [text, sentence] = [(); 2].map(|()| records.next().unwrap_or_default());
            let fields: BTreeMap<String, String> = [("name".to_owned(), sentence.to_string())].into();
            let error =
                ApiError::with_message(StatusCode::UNPROCESSABLE_ENTITY, &*sentence).with_fields(fields);
            let values = FormValues::from([("name".to_owned(), text.to_string())]);
            for (place, expected) in [
                ("text:name", &text),
                ("error:name", &sentence),
                ("refusal", &sentence),
            ] {
                let page = fill(&format!("<p>{{{{{place}}}}}</p>"), "/contact", &error, &values);
                let shown = page
                    .strip_prefix("<p>")
                    .and_then(|page| page.strip_suffix("</p>"));
                let shown = shown.and_then(read).expect("it is text");
                let begins_with_a_break = expected.starts_with(['\r', '\n']);
                let shown = if begins_with_a_break { &shown[1..] } else { &shown };
                assert_eq!(shown, &**expected, "{place}");
            }
        });
}
