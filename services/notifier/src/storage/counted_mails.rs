//! Daily mail counts of one inbox. Each kind has its own count, so one kind cannot use up another's limit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

/// Counted mails of one inbox: Unix time by event and channel.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedMails {
    mails: BTreeMap<String, i64>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Count {
    Before,
    TooMany,
    /// The mail counts now; the caller must store this record.
    Now(CountedMails),
}

impl CountedMails {
    pub fn count(mut self, mail: &str, now: OffsetDateTime, max_per_day: usize) -> Count {
        let since = (now - Duration::DAY).unix_timestamp();
        self.mails.retain(|_, counted| *counted > since);
        if self.mails.contains_key(mail) {
            return Count::Before;
        }
        let of_its_kind = self.mails.keys().filter(|other| kind(other) == kind(mail));
        if of_its_kind.count() >= max_per_day {
            return Count::TooMany;
        }
        self.mails.insert(mail.to_owned(), now.unix_timestamp());
        Count::Now(self)
    }
}

/// Kind of a mail: the channel in its key.
fn kind(mail: &str) -> &str {
    mail.split_once('.').map_or("", |(_event, channel)| channel)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use site_events::Channel;
    use time::macros::datetime;

    use super::*;

    const TWO_A_DAY: usize = 2;
    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

    fn counted(known: CountedMails, mail: &str, now: OffsetDateTime) -> CountedMails {
        match known.clone().count(mail, now, TWO_A_DAY) {
            Count::Now(next) => next,
            Count::Before | Count::TooMany => known,
        }
    }

    #[test]
    fn each_mail_counts_once_among_its_kind() {
        let two = counted(counted(CountedMails::default(), "1.a", NOW), "2.a", NOW);
        assert_eq!(two.clone().count("2.a", NOW, TWO_A_DAY), Count::Before);
        assert_eq!(two.clone().count("3.a", NOW, TWO_A_DAY), Count::TooMany);
        let four = counted(counted(two, "3.b", NOW), "4.b", NOW);
        assert_eq!(four.mails.len(), 4);
        assert_eq!(four.count("5.b", NOW, TWO_A_DAY), Count::TooMany);
    }

    #[test]
    fn the_largest_record_fits_the_broker() {
        const MOST: u16 = 1000;
        const MAX_PAYLOAD: usize = 1024 * 1024;
        let kinds = Channel::ALL.into_iter().filter(|channel| channel.is_to_visitor());
        let event = "ffffffff-ffff-ffff-ffff-ffffffff";
        let mails = kinds.flat_map(|kind| (0..MOST).map(move |n| format!("{event}{n:04}.{}", kind.name())));
        let record = CountedMails {
            mails: mails.map(|mail| (mail, NOW.unix_timestamp())).collect(),
        };
        let stored = serde_json::to_vec(&record).expect("plain values");
        assert!(stored.len() < MAX_PAYLOAD / 2);
    }

    #[test]
    fn a_mail_stops_counting_after_a_day() {
        let one = counted(CountedMails::default(), "1.a", NOW);
        let two = counted(one, "2.a", NOW + Duration::HOUR);
        let nearly = NOW + Duration::DAY - Duration::SECOND;
        assert_eq!(two.clone().count("3.a", nearly, TWO_A_DAY), Count::TooMany);
        let later = counted(two, "3.a", NOW + Duration::DAY);
        assert_eq!(later.mails.len(), 2, "the first made room");
    }

    proptest! {
        #[test]
        fn no_day_exceeds_the_limit_of_a_kind(
            steps in prop::collection::vec((0u8..30, 0i64..20_000), 0..80),
        ) {
            let (mut known, mut now, mut sent) = (CountedMails::default(), NOW, BTreeMap::new());
            for (event, seconds) in steps {
                now += Duration::seconds(seconds);
                let mail = format!("{event}.{}", event % 2);
                if let Count::Now(next) = known.clone().count(&mail, now, 3) {
                    known = next;
                    sent.insert(mail, now);
                }
                for kind in [".0", ".1"] {
                    let sent = sent.iter().filter(|(mail, _)| mail.ends_with(kind));
                    let of_the_day = sent.filter(|(_, at)| now - **at < Duration::DAY).count();
                    prop_assert!(of_the_day <= 3);
                }
            }
        }
    }
}
