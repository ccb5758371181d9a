//! Settings of the newsletter's mails: how many may go out, by all notifiers together.

use clap::Args;
use issues::SendingLimits;

/// The longest plan of a warm-up, in days.
const MAX_WARM_UP_DAYS: usize = 90;

/// How many mails of the newsletter may go out; without a limit as many as the mail server takes.
#[derive(Args, Debug, Clone, Default)]
pub struct NewsletterSettings {
    /// How many mails of the newsletter all notifiers together send within a second; unlimited where it is not set
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
    /// The daily limits of the first days on which an issue is sent, such as 500,1000,2000: receivers trust a new sender slowly
    #[arg(long, env = "NEWSLETTER_WARM_UP", value_parser = warm_up)]
    newsletter_warm_up: Option<WarmUp>,
}

/// Daily limits, of the first day first.
#[derive(Debug, Clone)]
struct WarmUp(Vec<u32>);

impl NewsletterSettings {
    /// The limits that these settings call for.
    pub fn limits(&self) -> SendingLimits {
        SendingLimits {
            per_second: self.newsletter_per_second,
            per_hour: self.newsletter_per_hour,
            per_day: self.newsletter_per_day,
            per_domain_and_minute: self.newsletter_domain_per_minute,
            warm_up: self
                .newsletter_warm_up
                .as_ref()
                .map(|plan| plan.0.clone())
                .unwrap_or_default(),
        }
    }
}

fn limit() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

fn warm_up(raw: &str) -> Result<WarmUp, String> {
    let wrong =
        || format!("it is not a list of at most {MAX_WARM_UP_DAYS} daily limits such as 500,1000,2000");
    let days: Result<Vec<u32>, _> = raw.split(',').map(|day| day.trim().parse()).collect();
    let days = days.map_err(|_| wrong())?;
    let is_plan = days.len() <= MAX_WARM_UP_DAYS && days.iter().all(|day| *day > 0);
    is_plan.then_some(WarmUp(days)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_is_a_list_of_daily_limits() {
        assert_eq!(
            warm_up("500, 1000,2000").map(|plan| plan.0),
            Ok(vec![500, 1000, 2000])
        );
        for raw in ["", "0", "500,", "many", "500;1000"] {
            assert!(warm_up(raw).is_err(), "{raw}");
        }
    }
}
