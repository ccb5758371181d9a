//! Fuzz target: a table of subscribers that is to be imported. How it is run: docs/testing.md.

use ::subscribers::Subscriber;
use bolero::check;
use time::{OffsetDateTime, macros::datetime};
use uuid::Uuid;
use visitor::EmailAddress;

use super::{
    lines::{ImportRecord, Line, read},
    table::{COLUMNS, Row, Table},
};

const ITERATIONS: usize = 1000;
const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

/// Who consented, as an import stores them, an export writes them, and another import reads them.
fn exported_and_read(consents: &[Subscriber]) -> Vec<Line> {
    let mut exported = Vec::new();
    write(&mut exported, consents).expect("as many columns as cells");
    read(&exported, NOW).expect("what is exported is read")
}

fn write(exported: &mut Vec<u8>, consents: &[Subscriber]) -> anyhow::Result<()> {
    let mut table = Table::begin(exported, COLUMNS)?;
    for subscriber in consents {
        table.write(&Row::of(subscriber, None))?;
    }
    table.end()
}

fn consent(record: &ImportRecord) -> Option<Subscriber> {
    let ImportRecord::Consent {
        email,
        confirmed,
        source,
        consent,
    } = record
    else {
        return None;
    };
    let (source, id) = (Some(source.clone()), Uuid::from_u128(1));
    let subscriber = Subscriber::imported(email.clone(), source, *confirmed, id);
    Some(match consent {
        Some(consent) => subscriber.with_consent(consent.clone(), *confirmed),
        None => subscriber,
    })
}

fn ensure_valid(record: &ImportRecord) {
    match record {
        ImportRecord::Consent {
            email,
            confirmed,
            source,
            consent: _,
        } => {
            assert!(EmailAddress::parse(email.as_str()).is_ok() && *confirmed <= NOW);
            assert!((1..=200).contains(&source.chars().count()) && !source.contains(char::is_control));
        }
        ImportRecord::Unsubscribe { email, ended } => {
            assert!(EmailAddress::parse(email.as_str()).is_ok() && *ended <= NOW);
        }
        ImportRecord::Other { .. } | ImportRecord::Forgotten => {}
    }
}

#[test]
fn whatever_table_is_imported_its_lines_are_whole_and_read_the_same_from_an_export() {
    check!(name = "subscriber-tables")
        .with_iterations(ITERATIONS)
        .for_each(|table: &[u8]| {
            let lines = match read(table, NOW) {
                Ok(lines) => lines,
                Err(error) => return assert!(!error.to_string().contains('@'), "{error}"),
            };
            let last = 1 + table.iter().filter(|byte| **byte == b'\n').count() as u64;
            assert!(lines.iter().all(|line| line.number <= last));
            assert!(lines.is_sorted_by(|one, next| one.number <= next.number));
            lines.iter().for_each(|line| ensure_valid(&line.record));
            let consents: Vec<Subscriber> = lines.iter().filter_map(|line| consent(&line.record)).collect();
            let again = exported_and_read(&consents);
            let again: Vec<Subscriber> = again.iter().filter_map(|line| consent(&line.record)).collect();
            assert_eq!(again, consents);
        });
}
