//! Fills a page with the visitor's input and its errors. The build leaves placeholders in the page
//! (`frontends/kit/src/refused-page.tsx`):
//!
//! - `{{refusal}}`: error sentence of the whole form;
//! - `{{text:<field>}}`: the visitor's input in the field;
//! - `{{error:<field>}}`: the field's error sentence; `{{invalid:<field>}}`: `true` if there is one, else `false`.
//!
//! [`FALLBACK_PAGE`](super::FALLBACK_PAGE) has two more placeholders: `{{form-page}}`, the address of the form's
//! page, and `{{other-way}}`, other ways to contact us.

use super::form_values::FormValues;
use crate::{api_error::ApiError, contact_details::OTHER_WAY};

/// Replaces the page's placeholders, but none in inserted texts. Escapes texts for elements and quoted attributes.
pub fn fill(page: &str, form_page: &str, error: &ApiError, values: &FormValues) -> String {
    let text_at = |place: &str| match place.split_once(':').unwrap_or((place, "")) {
        ("refusal", _) => Some(error.sentence()),
        ("text", field) => Some(values.get(field).map_or("", String::as_str)),
        ("error", field) => Some(error.field(field).unwrap_or_default()),
        ("invalid", field) if error.field(field).is_some() => Some("true"),
        ("invalid", _) => Some("false"),
        ("form-page", _) => Some(form_page),
        ("other-way", _) => Some(OTHER_WAY.as_str()),
        _ => None,
    };
    let mut filled = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, found)) = rest.split_once("{{") {
        filled.push_str(before);
        let text = found
            .split_once("}}")
            .and_then(|(place, after)| Some((text_at(place)?, after)));
        rest = match text {
            Some((text, after)) => {
                filled.push_str(&escaped(text));
                after
            }
            // `{{` without a placeholder may belong to a script.
            None => {
                filled.push_str("{{");
                found
            }
        };
    }
    filled + rest
}

fn escaped(text: &str) -> String {
    // HTML drops the first line break of a textarea (HTML, 13.1.2.5). Other fields contain no line breaks.
    let first = if text.starts_with(['\r', '\n']) { "\n" } else { "" };
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;");
    format!("{first}{text}")
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    const PAGE: &str = r#"<script>let a = {{b}};</script><p>{{refusal}}</p><form method="post">
<input name="name" value="{{text:name}}" aria-invalid="{{invalid:name}}"><p>{{error:name}}</p>
<textarea name="message" aria-invalid="{{invalid:message}}">{{text:message}}</textarea><p>{{error:message}}</p></form>"#;

    fn filled(errors: &[(&str, &str)], values: &[(&str, &str)]) -> String {
        let values = values.iter().map(|(name, text)| ((*name).into(), (*text).into()));
        let errors = errors
            .iter()
            .map(|(name, sentence)| ((*name).into(), (*sentence).into()));
        let error = ApiError::of(StatusCode::UNPROCESSABLE_ENTITY).with_fields(errors.collect());
        fill(PAGE, "/contact", &error, &values.collect())
    }

    #[test]
    fn an_error_is_shown_only_at_its_field() {
        let page = filled(&[("name", "Tell us <who> you are.")], &[]);
        assert_eq!(
            page,
            r#"<script>let a = {{b}};</script><p>Please check the marked fields.</p><form method="post">
<input name="name" value="" aria-invalid="true"><p>Tell us &lt;who&gt; you are.</p>
<textarea name="message" aria-invalid="false"></textarea><p></p></form>"#
        );
    }

    #[test]
    fn entered_text_is_escaped_everywhere() {
        let nasty = "\"><script>alert('&quot;')</script>\r\n🎥</textarea>{{refusal}}";
        let page = filled(&[], &[("name", nasty), ("message", nasty)]);
        let text =
            "&quot;&gt;&lt;script&gt;alert('&amp;quot;')&lt;/script&gt;\r\n🎥&lt;/textarea&gt;{{refusal}}";
        assert!(page.contains(&format!(" value=\"{text}\"")), "{page}");
        assert!(page.contains(&format!(">{text}</textarea>")), "{page}");
    }
}
