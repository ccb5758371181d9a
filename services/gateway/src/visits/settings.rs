//! Settings of the counts of visits.

use std::{num::NonZeroU32, str::FromStr, sync::Arc};

use clap::Args;

use super::beacon::{MAX_CAMPAIGN_BYTES, is_campaign};

/// The most campaigns: each is a value of a label, which every kind of page has series of.
pub const MAX_CAMPAIGNS: usize = 20;
/// What a visit without a campaign is counted as.
pub const NO_CAMPAIGN: &str = "none";
/// What any other campaign is counted as.
pub const OTHER_CAMPAIGN: &str = "other";

/// By what visits are counted, and how many of them.
#[derive(Args, Debug)]
pub struct VisitSettings {
    /// Campaigns that visits are counted by, separated by commas, at most 20: values of `utm_campaign` in addresses that lead here; any
    /// other is counted as `other`
    #[arg(long = "visit-campaigns", env = "VISIT_CAMPAIGNS", value_delimiter = ',')]
    pub campaigns: Vec<Campaign>,
    /// Of so many messages of browsers about visits one is counted, as so many; 1 counts each
    #[arg(long = "visits-one-in", env = "VISITS_ONE_IN", default_value = "1")]
    pub one_in: NonZeroU32,
    /// Messages about visits that are counted within a second, of all addresses together; what is beyond is passed over
    #[arg(long = "visits-per-second", env = "VISITS_PER_SECOND", default_value = "100")]
    pub per_second: NonZeroU32,
}

/// Name of a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Campaign(Arc<str>);

impl Campaign {
    pub fn name(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl FromStr for Campaign {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            NO_CAMPAIGN | OTHER_CAMPAIGN => Err(format!(
                "\"{name}\" is what visits of no such campaign are counted as"
            )),
            name if is_campaign(name) => Ok(Self(name.into())),
            _ => Err(format!(
                "\"{name}\" is no campaign's name, which has letters, digits and . _ ~ -, and at most {MAX_CAMPAIGN_BYTES} of them"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_has_a_plain_name_of_its_own() {
        for name in ["monsoon", "2026-Q4.retail_shops"] {
            assert_eq!(
                Campaign::from_str(name).map(|campaign| campaign.name().to_string()),
                Ok(name.to_owned())
            );
        }
        for name in ["", "none", "other", "a b", "a@example.org", "ä"] {
            assert!(Campaign::from_str(name).is_err(), "{name}");
        }
    }
}
