//! Fuzz target: a table of subscribers that is to be imported. How it is run: docs/testing.md.

use ::subscribers::Subscriber;
use bolero::check;
use time::{OffsetDateTime, macros::datetime};
use uuid::Uuid;
use visitor::EmailAddress;

use super::{
    export::{COLUMNS, document},
    lines::{ImportRecord, Line, read},
};
use crate::output::{cells, escape_formula};

const ITERATIONS: usize = 1000;
const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

/// Who consented, as an import stores them, an export writes them, and another import reads them.
fn exported_and_read(consents: &[Subscriber]) -> Vec<Line> {
    let exported = exported(consents).expect("as many columns as cells");
    read(&exported, NOW).expect("what is exported is read")
}

fn exported(consents: &[Subscriber]) -> anyhow::Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(COLUMNS.map(|(heading, _)| heading))?;
    for subscriber in consents {
        let cells = cells(&COLUMNS, &document(subscriber));
        table.write_record(cells.into_iter().map(escape_formula))?;
    }
    Ok(table.into_inner()?)
}

fn consent(record: &ImportRecord) -> Option<Subscriber> {
    let ImportRecord::Consent(_, subscriber) = record else {
        return None;
    };
    let mut subscriber = Subscriber::clone(subscriber);
    subscriber.subscription = Uuid::nil();
    Some(subscriber)
}

fn ensure_valid(record: &ImportRecord) {
    match record {
        ImportRecord::Consent(email, subscriber) => {
            assert!(EmailAddress::parse(email.as_str()).is_ok());
            assert!(subscriber.consented_at().is_some_and(|at| at <= NOW));
            assert!(
                subscriber
                    .source
                    .as_ref()
                    .is_some_and(|source| !source.is_empty())
            );
        }
        ImportRecord::Unsubscribe { email, ended } => {
            assert!(EmailAddress::parse(email.as_str()).is_ok() && *ended <= NOW);
        }
        ImportRecord::LeftAlone(_) => {}
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
            assert!(lines.is_sorted_by(|one, next| one.number < next.number));
            lines.iter().for_each(|line| ensure_valid(&line.record));
            let consents: Vec<Subscriber> = lines.iter().filter_map(|line| consent(&line.record)).collect();
            let again = exported_and_read(&consents);
            let again: Vec<Subscriber> = again.iter().filter_map(|line| consent(&line.record)).collect();
            assert_eq!(again, consents);
        });
}
