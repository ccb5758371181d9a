//! The dead-letter digest, without personal data.

use std::collections::BTreeMap;

use minijinja::{Value, context};
use site_broker::dead_letters::DeadLetterSummary;
use site_mail::Kind;

use super::{context::MailContext, message::Mail};

const MAX_FAILURES: usize = 12;
/// Maximum number of dead letters listed per failure.
const MAX_NUMBERS: usize = 6;

/// Content of a digest.
pub struct DigestContent {
    /// Dead letters by stream sequence, oldest first; at least one.
    pub letters: Vec<(u64, DeadLetterSummary)>,
    /// Number of further dead letters, for the next mail.
    pub remaining: u64,
    /// Disabled webhook endpoints with their reasons.
    pub endpoints: Vec<(String, String)>,
}

/// The digest, grouped by failure.
pub fn dead_letters(context: &MailContext, content: &DigestContent) -> Mail {
    let numbers = || content.letters.iter().map(|(number, _)| *number);
    let (first, last) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
    let failures = failures(&content.letters);
    let endpoints = content
        .endpoints
        .iter()
        .map(|(name, reason)| context! { name, reason });
    let values = context! {
        count => content.letters.len(),
        waiting => content.remaining,
        first => first,
        untold => failures.len().saturating_sub(MAX_FAILURES),
        failures => failures.into_iter().take(MAX_FAILURES).collect::<Vec<_>>(),
        endpoints => endpoints.collect::<Vec<_>>(),
    };
    Mail {
        kind: Kind::DeadLetters,
        id: format!("dead-letters.{first}-{last}"),
        conversation: "dead-letters".to_owned(),
        headers: Vec::new(),
        to: context.operator.clone(),
        reply_to: None,
        unsubscribe: None,
        attachment: None,
        values,
    }
}

/// Groups dead letters by channel and reason, largest first.
fn failures(letters: &[(u64, DeadLetterSummary)]) -> Vec<Value> {
    let mut groups: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
    for (number, letter) in letters {
        let group = groups.entry((&letter.channel, &letter.reason)).or_default();
        group.push(*number);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, numbers)| std::cmp::Reverse(numbers.len()));
    let value = |((channel, reason), numbers): ((&str, &str), Vec<u64>)| {
        context! { channel, reason, count => numbers.len(), numbers => abbreviated_list(&numbers) }
    };
    groups.into_iter().map(value).collect()
}

fn abbreviated_list(numbers: &[u64]) -> String {
    let named = numbers.iter().take(MAX_NUMBERS).map(u64::to_string);
    let more = (numbers.len() > MAX_NUMBERS).then(|| "…".to_owned());
    named.chain(more).collect::<Vec<_>>().join(", ")
}
