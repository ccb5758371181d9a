//! Beacon: what a page counted until it was hidden, in words of ours and bounded.

use serde::Deserialize;
use utoipa::ToSchema;

/// The most pages that one beacon tells of.
pub const MAX_VIEWS: usize = 16;
/// The most starts, and ends, of forms.
pub const MAX_FORMS: usize = 8;
/// The longest name of a campaign.
pub const MAX_CAMPAIGN_BYTES: usize = 64;

/// What was done on the site while one of its pages was open, in no order
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = VisitBeacon)]
pub struct Beacon {
    /// The parameter `utm_campaign` of the address that the visitor came by
    #[schema(pattern = "^[A-Za-z0-9._~-]{1,64}$")]
    pub campaign: Option<String>,
    /// The kinds of the pages that were shown
    #[serde(default)]
    #[schema(max_items = 16)]
    pub views: Vec<PageKind>,
    /// The forms that somebody began to fill in
    #[serde(default)]
    #[schema(max_items = 8)]
    pub starts: Vec<FormName>,
    /// The forms that were accepted
    #[serde(default)]
    #[schema(max_items = 8)]
    pub ends: Vec<FormName>,
    /// How fast and steady the page was
    pub vitals: Option<Vitals>,
}

/// Web Vitals of a page, as they are known (<https://web.dev/articles/vitals>)
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Vitals {
    /// The kind of the page
    pub page: PageKind,
    /// Largest Contentful Paint, in milliseconds
    pub lcp: Option<f64>,
    /// Interaction to Next Paint, in milliseconds
    pub inp: Option<f64>,
    /// Cumulative Layout Shift
    pub cls: Option<f64>,
}

/// Declares an enum of names, with all of them in a list: a metric has no label that somebody made up.
macro_rules! names {
    ($(#[$about:meta])* $kind:ident { $($variant:ident = $name:tt,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
        pub enum $kind {
            $(#[serde(rename = $name)] $variant,)+
        }

        impl $kind {
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

names! {
    /// Kind of a page
    PageKind {
        Home = "home",
        About = "about",
        Contact = "contact",
        Services = "services",
        Service = "service",
        Solutions = "solutions",
        BlogList = "blog-list",
        Article = "article",
        Author = "author",
        Careers = "careers",
        Position = "position",
        Application = "application",
        Privacy = "privacy",
        Terms = "terms",
        FormResult = "form-result",
        NotFound = "not-found",
    }
}

names! {
    /// Name of a form
    FormName {
        Contact = "contact",
        Newsletter = "newsletter",
        CareerApplication = "career-application",
    }
}

impl Beacon {
    /// The beacon in a body; none where it is not one, or beyond its bounds.
    pub fn read(body: &[u8]) -> Option<Self> {
        let beacon: Self = serde_json::from_slice(body).ok()?;
        beacon.is_within_bounds().then_some(beacon)
    }

    fn is_within_bounds(&self) -> bool {
        self.views.len() <= MAX_VIEWS
            && self.starts.len() <= MAX_FORMS
            && self.ends.len() <= MAX_FORMS
            && self.campaign.as_deref().is_none_or(is_campaign)
    }
}

/// Whether it can be the name of a campaign.
pub fn is_campaign(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
    (1..=MAX_CAMPAIGN_BYTES).contains(&name.len()) && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_beacon(body: &str) -> bool {
        Beacon::read(body.as_bytes()).is_some()
    }

    #[test]
    fn a_beacon_is_read_as_it_was_sent() {
        let body = r#"{"campaign":"monsoon","views":["home","blog-list"],"starts":["contact"],
            "ends":["career-application"],"vitals":{"page":"home","lcp":1234.5,"cls":0}}"#;
        let beacon = Beacon::read(body.as_bytes()).expect("a beacon");
        assert_eq!(beacon.campaign.as_deref(), Some("monsoon"));
        assert_eq!(beacon.views, [PageKind::Home, PageKind::BlogList]);
        assert_eq!(beacon.starts, [FormName::Contact]);
        assert_eq!(beacon.ends, [FormName::CareerApplication]);
        let vitals = beacon.vitals.expect("vitals");
        assert_eq!(
            (vitals.lcp, vitals.inp, vitals.cls),
            (Some(1234.5), None, Some(0.0))
        );
        assert!(is_beacon("{}"));
    }

    #[test]
    fn what_is_unknown_or_too_much_is_no_beacon() {
        for body in [
            "",
            "null",
            "[]",
            "{}{}",
            r#"{"url":"https://oculant.example/?token=a"}"#,
            r#"{"views":["/contact"]}"#,
            r#"{"views":["Home"]}"#,
            r#"{"views":"home"}"#,
            r#"{"starts":["ghost"]}"#,
            r#"{"vitals":{"lcp":1}}"#,
            r#"{"vitals":{"page":"home","ttfb":1}}"#,
            r#"{"vitals":{"page":"home","lcp":"1"}}"#,
            r#"{"vitals":{"page":"home","lcp":1e999}}"#,
            r#"{"vitals":{"page":"home","lcp":NaN}}"#,
            r#"{"campaign":""}"#,
            r#"{"campaign":"asha@example.org"}"#,
            r#"{"campaign":"a","campaign":"b"}"#,
        ] {
            assert!(!is_beacon(body), "{body}");
        }
        let many = |list: &str, name: &str, count: usize| {
            is_beacon(&format!(
                "{{\"{list}\":[{}]}}",
                vec![format!("\"{name}\""); count].join(",")
            ))
        };
        assert!(many("views", "terms", MAX_VIEWS) && !many("views", "terms", MAX_VIEWS + 1));
        for list in ["starts", "ends"] {
            assert!(many(list, "contact", MAX_FORMS) && !many(list, "contact", MAX_FORMS + 1));
        }
        assert!(is_campaign(&"x".repeat(MAX_CAMPAIGN_BYTES)));
        assert!(!is_campaign(&"x".repeat(MAX_CAMPAIGN_BYTES + 1)));
    }

    #[test]
    fn the_document_of_the_api_has_the_same_bounds() {
        let document = serde_json::to_value(crate::api::openapi::openapi()).expect("it is JSON");
        let fields = &document["components"]["schemas"]["VisitBeacon"]["properties"];
        assert_eq!(fields["views"]["maxItems"], MAX_VIEWS);
        assert_eq!(fields["starts"]["maxItems"], MAX_FORMS);
        assert_eq!(fields["ends"]["maxItems"], MAX_FORMS);
        let pattern = format!("^[A-Za-z0-9._~-]{{1,{MAX_CAMPAIGN_BYTES}}}$");
        assert_eq!(fields["campaign"]["pattern"], pattern);
    }
}
