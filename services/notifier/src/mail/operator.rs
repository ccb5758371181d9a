//! Something could not be delivered: the operator hears of it, without anybody's data.

use std::collections::BTreeMap;

use minijinja::{Value, context};
use site_broker::dead_letters::Summary;

use super::{context::MailContext, message::Mail, templates::Kind};

/// The most different failures that are shown.
const MOST: usize = 12;
/// The most numbers of dead letters that are named for one failure.
const MOST_NUMBERS: usize = 6;

/// What the operator is told at once.
pub struct Told {
    /// The dead letters by their number in the stream, the oldest first; there is at least one.
    pub letters: Vec<(u64, Summary)>,
    /// How many more there are, which the next mail tells of.
    pub waiting: u64,
    /// The endpoints of webhooks that were switched off, and why.
    pub endpoints: Vec<(String, String)>,
}

/// What could not be delivered, failure by failure.
pub fn dead_letters(context: &MailContext, told: &Told) -> Mail {
    let numbers = || told.letters.iter().map(|(number, _)| *number);
    let (first, last) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
    let failures = failures(&told.letters);
    let endpoints = told
        .endpoints
        .iter()
        .map(|(name, reason)| context! { name, reason });
    let values = context! {
        count => told.letters.len(),
        waiting => told.waiting,
        first => first,
        untold => failures.len().saturating_sub(MOST),
        failures => failures.into_iter().take(MOST).collect::<Vec<_>>(),
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

/// The dead letters by the channel that failed and why; the largest group first.
fn failures(letters: &[(u64, Summary)]) -> Vec<Value> {
    let mut groups: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
    for (number, letter) in letters {
        let group = groups.entry((&letter.channel, &letter.reason)).or_default();
        group.push(*number);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, numbers)| std::cmp::Reverse(numbers.len()));
    let value = |((channel, reason), numbers): ((&str, &str), Vec<u64>)| {
        context! { channel, reason, count => numbers.len(), numbers => in_a_row(&numbers) }
    };
    groups.into_iter().map(value).collect()
}

fn in_a_row(numbers: &[u64]) -> String {
    let named = numbers.iter().take(MOST_NUMBERS).map(u64::to_string);
    let more = (numbers.len() > MOST_NUMBERS).then(|| "…".to_owned());
    named.chain(more).collect::<Vec<_>>().join(", ")
}
