//! Where a visitor came from.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use visitor::invisible::is_invisible;

/// Maximum length of a value. Longer values are truncated.
const MAX_VALUE_CHARACTERS: usize = 300;

/// Where a visitor came from, as far as their browser tells. Advertisers choose the `utm` parameters of their
/// links (https://support.google.com/analytics/answer/10917952).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Attribution {
    /// The path of the page that the form was sent from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The page of another site whose link led here, if that site sends its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referrer: Option<String>,
    /// `utm_source`: the site or advertiser that sent the visitor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utm_source: Option<String>,
    /// `utm_medium`: the kind of advertisement, such as `print`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utm_medium: Option<String>,
    /// `utm_campaign`: the name of the campaign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utm_campaign: Option<String>,
    /// `utm_term`: the search keywords.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utm_term: Option<String>,
    /// `utm_content`: distinguishes several links of one campaign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utm_content: Option<String>,
}

impl Attribution {
    /// Cleans the attribution that a form sent. A bad value must not reject the form. Therefore long
    /// values are truncated and unprintable characters removed.
    pub fn of(sent: Option<impl Into<Self>>) -> Option<Self> {
        let sent: Self = sent?.into();
        let attribution = Self {
            page: sent.page.as_deref().and_then(kept),
            referrer: sent.referrer.as_deref().and_then(kept),
            utm_source: sent.utm_source.as_deref().and_then(kept),
            utm_medium: sent.utm_medium.as_deref().and_then(kept),
            utm_campaign: sent.utm_campaign.as_deref().and_then(kept),
            utm_term: sent.utm_term.as_deref().and_then(kept),
            utm_content: sent.utm_content.as_deref().and_then(kept),
        };
        (attribution != Self::default()).then_some(attribution)
    }

    /// A sample with every value.
    pub fn sample() -> Self {
        let some = |text: &str| Some(text.to_owned());
        Self {
            page: some("/contact"),
            referrer: some("https://www.example.org/"),
            utm_source: some("test"),
            utm_medium: some("test"),
            utm_campaign: some("test"),
            utm_term: some("test"),
            utm_content: some("test"),
        }
    }

    /// The `utm` values in one line, such as `newspaper / print / spring`.
    pub fn campaign(&self) -> Option<String> {
        let parts = [
            &self.utm_source,
            &self.utm_medium,
            &self.utm_campaign,
            &self.utm_term,
            &self.utm_content,
        ];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.join(" / "))
    }
}

fn kept(value: &str) -> Option<String> {
    let printable = value.chars().filter(|c| !c.is_control() && !is_invisible(*c));
    let kept: String = printable.take(MAX_VALUE_CHARACTERS).collect();
    let kept = kept.trim();
    (!kept.is_empty()).then(|| kept.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribution_is_truncated_and_cleaned() {
        let told = Attribution {
            page: Some("/contact".into()),
            referrer: Some("x".repeat(301)),
            utm_source: Some(" news\r\npa\u{202e}per ".into()),
            utm_medium: Some("\u{0}".into()),
            ..Attribution::default()
        };
        let kept = Attribution {
            page: Some("/contact".into()),
            referrer: Some("x".repeat(300)),
            utm_source: Some("newspaper".into()),
            ..Attribution::default()
        };
        assert_eq!(Attribution::of(Some(told)), Some(kept));
        let empty = Attribution {
            page: Some(String::new()),
            ..Attribution::default()
        };
        assert_eq!(Attribution::of(Some(empty)), None);
        assert_eq!(Attribution::of(None::<Attribution>), None);
    }

    #[test]
    fn a_campaign_is_one_line() {
        let attribution = Attribution {
            utm_source: Some("newspaper".into()),
            utm_campaign: Some("spring".into()),
            ..Attribution::default()
        };
        assert_eq!(attribution.campaign().as_deref(), Some("newspaper / spring"));
        assert_eq!(Attribution::default().campaign(), None);
    }
}
