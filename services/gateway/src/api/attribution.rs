//! Where the visitor came from, as a form tells it.

use serde::{Deserialize, Serialize};
use site_proto::attribution::v1 as proto;
use utoipa::ToSchema;

/// Where the visitor came from. All of it may be left out; none of it is a reason to refuse a form.
#[derive(Default, Deserialize, Serialize, ToSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Attribution {
    /// The path of the page that the form is sent from
    page: String,
    /// The page of another site that led here
    referrer: String,
    /// The parameter `utm_source` of the address that the visitor came by
    utm_source: String,
    /// `utm_medium`
    utm_medium: String,
    /// `utm_campaign`
    utm_campaign: String,
    /// `utm_term`
    utm_term: String,
    /// `utm_content`
    utm_content: String,
}

impl From<Attribution> for proto::Attribution {
    fn from(told: Attribution) -> Self {
        Self {
            page: told.page,
            referrer: told.referrer,
            utm_source: told.utm_source,
            utm_medium: told.utm_medium,
            utm_campaign: told.utm_campaign,
            utm_term: told.utm_term,
            utm_content: told.utm_content,
        }
    }
}
