//! Selection of dead letters by the arguments of a command, and their stream.

use anyhow::Context as _;
use async_nats::jetstream::{Context, message::StreamMessage, stream::Stream};
use clap::Args;
use futures_util::{
    StreamExt as _, TryStreamExt as _,
    future::ready,
    stream::{self, BoxStream},
};
use site_broker::StreamReader;
use site_events::DEAD_LETTERS_STREAM;

use crate::broker;

/// Selection of dead letters.
#[derive(Args, Debug)]
#[group(id = "selection", required = true, multiple = false)]
pub struct Selection {
    /// Their numbers in the list
    #[arg(value_name = "NUMBER")]
    numbers: Vec<u64>,
    /// All there are
    #[arg(long)]
    all: bool,
}

impl Selection {
    /// The dead letters that are meant; none that comes after the reader was opened, as one does whose replay fails.
    ///
    /// # Errors
    ///
    /// If one that is named is not there, or the broker does not answer.
    pub async fn find<'a>(
        &self,
        reader: &'a StreamReader,
    ) -> anyhow::Result<BoxStream<'a, anyhow::Result<StreamMessage>>> {
        if self.all {
            let last = reader.stream().cached_info().state.last_sequence;
            let letters = broker::all(reader);
            let letters = letters.try_take_while(move |letter| ready(Ok(letter.sequence <= last)));
            return Ok(letters.map_err(anyhow::Error::from).boxed());
        }
        let mut found: Vec<StreamMessage> = Vec::new();
        for &number in &self.numbers {
            if found.iter().all(|letter| letter.sequence != number) {
                found.push(get(reader.stream(), number).await?);
            }
        }
        Ok(stream::iter(found).map(Ok).boxed())
    }
}

/// Opens the stream of dead letters.
///
/// # Errors
///
/// If it is not there, or the broker does not answer.
pub async fn open(context: &Context) -> anyhow::Result<StreamReader> {
    broker::reader(context, DEAD_LETTERS_STREAM).await
}

/// The dead letter of this number.
///
/// # Errors
///
/// If there is none, or the broker does not answer.
pub async fn get(stream: &Stream, number: u64) -> anyhow::Result<StreamMessage> {
    let letter = broker::get(stream, number).await?;
    letter.with_context(|| format!("There is no dead letter {number}; see `sitectl dead-letters list`."))
}

pub fn comma_separated(numbers: &[u64]) -> String {
    if numbers.is_empty() {
        return "none".to_owned();
    }
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(", ")
}
