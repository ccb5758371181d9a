//! Fuzz target: parts of an application, in any order and number.

use std::{fs, panic::AssertUnwindSafe, sync::LazyLock};

use bolero::check;
use bytes::Bytes;
use site_events::Attribution;
use site_proto::{
    attribution::v1 as proto,
    careers::v1::{ApplyRequest, Commit, Field, FieldName, ResumeStart, apply_request::Part},
};
use site_service::idempotency;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tonic::{Code, Status};

use crate::{
    application::RawForm,
    apply::{ApplyError, validated},
    receiving::{Committed, receive},
    resume::{MAX_BYTES, Verification},
};

const ITERATIONS: usize = 200;
/// Exceeds the limit and is rejected unwritten. Inputs that fill the disk would be too slow.
static LARGE_CHUNK: LazyLock<Bytes> = LazyLock::new(|| vec![b'x'; 1 + MAX_BYTES as usize].into());

type Message = Result<ApplyRequest, Status>;

/// The first letter selects the kind of message, the rest is its content.
fn message(line: &[u8]) -> Message {
    let (kind, rest) = line.split_first().unwrap_or((&b'-', &[]));
    let text = || String::from_utf8_lossy(rest).into_owned();
    let part = match kind {
        b'0'..=b'9' => Part::Field(Field {
            name: i32::from(*kind - b'0'),
            value: text(),
        }),
        b's' => Part::ResumeStart(ResumeStart { file_name: text() }),
        b'c' => Part::ResumeChunk(rest.to_vec().into()),
        b'C' => Part::ResumeChunk(LARGE_CHUNK.clone()),
        b'a' => Part::Attribution(proto::Attribution {
            page: text(),
            ..proto::Attribution::default()
        }),
        b'k' => Part::Commit(Commit {
            idempotency_key: text(),
        }),
        b'!' => return Err(Status::cancelled("the visitor is gone")),
        _ => return Ok(ApplyRequest { part: None }),
    };
    Ok(ApplyRequest { part: Some(part) })
}

fn messages(input: &[u8]) -> Vec<Message> {
    input.split(|byte| *byte == b'\n').map(message).collect()
}

#[derive(Default)]
struct Expected {
    form: [String; 7],
    file: Option<(String, Vec<u8>)>,
    attribution: Option<Attribution>,
    key: String,
}

/// Committed content by the protocol, or the code of the rejection.
fn expected(messages: &[Message]) -> Result<Expected, Code> {
    let mut expected = Expected::default();
    for message in messages {
        let message = message.as_ref().map_err(Status::code)?;
        match message.part.as_ref().ok_or(Code::FailedPrecondition)? {
            Part::Field(field) => {
                let name = usize::try_from(field.name).unwrap_or_default();
                if let Some(value) = expected.form.get_mut(name) {
                    value.clone_from(&field.value);
                }
            }
            Part::ResumeStart(_) if expected.file.is_some() => return Err(Code::InvalidArgument),
            Part::ResumeStart(start) => expected.file = Some((start.file_name.clone(), Vec::new())),
            Part::ResumeChunk(chunk) => {
                let (_, content) = expected.file.as_mut().ok_or(Code::FailedPrecondition)?;
                if (content.len() + chunk.len()) as u64 > MAX_BYTES {
                    return Err(Code::OutOfRange);
                }
                content.extend_from_slice(chunk);
            }
            Part::Attribution(told) => expected.attribution = Attribution::of(Some(told.clone())),
            Part::Commit(commit) => {
                expected.key.clone_from(&commit.idempotency_key);
                return Ok(expected);
            }
        }
    }
    Err(Code::FailedPrecondition)
}

fn ensure_whole(committed: &Committed, expected: &Expected) {
    let mut form = RawForm::default();
    for (number, value) in (0..).zip(&expected.form) {
        form.set(FieldName::try_from(number).expect("a field"), value.clone());
    }
    assert_eq!(committed.form, form);
    let file = committed.resume.as_ref().map(|spooled| {
        let content = fs::read(spooled.path()).expect("the résumé is there");
        assert_eq!(spooled.size_bytes, content.len() as u64);
        (spooled.file_name.clone(), content)
    });
    assert!(file == expected.file, "another résumé than was sent");
    assert_eq!(committed.attribution, expected.attribution);
    assert_eq!(committed.idempotency_key, expected.key);
}

async fn taken(verification: &Verification, committed: Committed) -> Result<(), ApplyError> {
    idempotency::parse(&committed.idempotency_key).map_err(ApplyError::Key)?;
    let has_resume = committed.resume.is_some();
    let (application, resume) = validated(verification, &committed.form, committed.resume).await?;
    assert_eq!(resume.is_some(), has_resume, "an application has lost its résumé");
    let required = [
        &application.name,
        &application.position,
        &application.cover_letter,
    ];
    assert!(required.iter().all(|text| !text.trim().is_empty()));
    Ok(())
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

#[test]
fn in_whatever_order_parts_come_they_are_one_application_or_the_senders_fault() {
    let (runtime, verification) = (runtime(), AssertUnwindSafe(Verification::default()));
    let folder = TempDir::new().expect("there is room for a folder");
    check!(name = "applications")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let messages = messages(input);
            let expected = expected(&messages);
            let received = runtime.block_on(receive(folder.path(), tokio_stream::iter(messages)));
            let received = received.map_err(|error| Status::from(error).code());
            match (received, expected) {
                (Ok(committed), Ok(expected)) => {
                    ensure_whole(&committed, &expected);
                    if let Err(error) = runtime.block_on(taken(&verification, committed)) {
                        assert_eq!(Status::from(error).code(), Code::InvalidArgument);
                    }
                }
                (Err(refused), Err(code)) => assert_eq!(refused, code),
                (Ok(_), Err(code)) => panic!("it is taken and not {code:?}"),
                (Err(refused), Ok(_)) => panic!("it is refused: {refused:?}"),
            }
        });
}
