//! Settings of the sending limits.

use clap::Args;
use issues::SendingLimits;

/// How many mails of the newsletter may go out; without a limit as many as the mail server takes.
#[derive(Args, Debug, Clone)]
pub struct SendingSettings {
    /// How many mails of the newsletter go out within a second; unlimited where it is not set
    #[arg(long, env = "NEWSLETTER_PER_SECOND", value_parser = limit())]
    newsletter_per_second: Option<u32>,
    /// The same within an hour (UTC)
    #[arg(long, env = "NEWSLETTER_PER_HOUR", value_parser = limit())]
    newsletter_per_hour: Option<u32>,
    /// The same within a day (UTC)
    #[arg(long, env = "NEWSLETTER_PER_DAY", value_parser = limit())]
    newsletter_per_day: Option<u32>,
    /// The same to one receiving domain within a minute
    #[arg(long, env = "NEWSLETTER_DOMAIN_PER_MINUTE", value_parser = limit())]
    newsletter_domain_per_minute: Option<u32>,
}

impl SendingSettings {
    /// Limits in these settings.
    pub fn limits(self) -> SendingLimits {
        SendingLimits {
            per_second: self.newsletter_per_second,
            per_hour: self.newsletter_per_hour,
            per_day: self.newsletter_per_day,
            per_domain_and_minute: self.newsletter_domain_per_minute,
        }
    }
}

fn limit() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_is_a_limit_of_its_own() {
        let settings = SendingSettings {
            newsletter_per_second: Some(1),
            newsletter_per_hour: Some(2),
            newsletter_per_day: Some(3),
            newsletter_domain_per_minute: Some(4),
        };
        let limits = settings.limits();
        let times = (limits.per_second, limits.per_hour, limits.per_day);
        assert_eq!(times, (Some(1), Some(2), Some(3)));
        assert_eq!(limits.per_domain_and_minute, Some(4));
    }
}
