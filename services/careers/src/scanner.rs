//! Virus scanner: résumés are scanned by clamd, with its command INSTREAM
//! (<https://docs.clamav.net/manual/Usage/Scanning.html>).

use std::{io, path::Path, time::Duration};

use opentelemetry::{KeyValue, metrics::Counter};
use site_events::event::Scan;
use site_service::metrics;
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::timeout,
};

const NOT_SCANNED: &str = "not_scanned";
const CHUNK_BYTES: usize = 64 * 1024;
/// In bytes; clamd says little more than the name of a signature.
const MAX_ANSWER_BYTES: u64 = 1024;

/// A clamd somewhere on the network. Each scan has a connection of its own.
pub struct Scanner {
    address: String,
    timeout: Duration,
    scans: Counter<u64>,
}

/// The scanner found a virus. The sentence is the visitor's to read.
#[derive(Debug, thiserror::Error)]
#[error("A virus was found in this file. Please choose another one.")]
pub struct Infected;

/// Verdict of the scanner on a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Clean,
    /// Holds the signature's name.
    Infected(String),
}

/// Why a scan has no verdict. The text is for logs.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    #[error("it did not answer in time")]
    Timeout,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it says: {0}")]
    Rejected(String),
    /// What it said instead may be the file itself, so no log shows it.
    #[error("it does not speak as clamd does")]
    Protocol,
}

impl Scanner {
    /// A scanner at this `host:port` that may take this long over a file. Nothing is sent
    /// yet.
    pub fn new(address: String, timeout: Duration) -> Self {
        let scans = metrics::meter()
            .u64_counter("site.resume.scans")
            .with_unit("{file}")
            .with_description("Résumés that were handed to the virus scanner")
            .build();
        // Whoever watches sees the first one only as an increase over none.
        scans.add(0, &[KeyValue::new("outcome", NOT_SCANNED)]);
        Self {
            address,
            timeout,
            scans,
        }
    }

    /// Scans a file. Where the scanner is away, slow or confused, the file counts as not
    /// scanned: an application is worth more than a scan.
    ///
    /// # Errors
    ///
    /// If the scanner found a virus.
    pub async fn scan(&self, file: &Path) -> Result<Scan, Infected> {
        let answer = timeout(self.timeout, self.ask(file)).await;
        let (outcome, scan) = match answer.unwrap_or(Err(ScanError::Timeout)) {
            Ok(Verdict::Clean) => ("clean", Ok(Scan::Clean)),
            Ok(Verdict::Infected(signature)) => {
                tracing::warn!(signature, "a résumé was refused: the scanner found a virus");
                ("infected", Err(Infected))
            }
            Err(error) => {
                tracing::warn!(%error, "a résumé was taken unscanned: the scanner was of no help");
                (NOT_SCANNED, Ok(Scan::NotScanned))
            }
        };
        self.scans.add(1, &[KeyValue::new("outcome", outcome)]);
        scan
    }

    async fn ask(&self, file: &Path) -> Result<Verdict, ScanError> {
        let mut file = File::open(file).await?;
        let mut clamd = TcpStream::connect(&self.address).await?;
        let (from, mut to) = clamd.split();
        let mut answer = Vec::new();
        let mut from = BufReader::new(from.take(MAX_ANSWER_BYTES));
        // Listened to from the start: where a file is longer than its StreamMaxLength,
        // clamd says so and hangs up in the middle of it.
        let (sent, heard) = tokio::join!(send(&mut file, &mut to), from.read_until(0, &mut answer));
        if answer.is_empty() {
            sent?;
            heard?;
        }
        parse(&answer)
    }
}

/// The file in chunks, each behind its length; the empty one is the end.
async fn send(file: &mut File, clamd: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    clamd.write_all(b"zINSTREAM\0").await?;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let length = file.read(&mut chunk).await?;
        clamd
            .write_u32(u32::try_from(length).map_err(io::Error::other)?)
            .await?;
        clamd.write_all(&chunk[..length]).await?;
        if length == 0 {
            return Ok(());
        }
    }
}

/// Reads clamd's answer, its zero included.
///
/// # Errors
///
/// If it is no verdict.
pub fn parse(answer: &[u8]) -> Result<Verdict, ScanError> {
    let said = answer
        .strip_suffix(b"\0")
        .and_then(|said| str::from_utf8(said).ok());
    let said = said.ok_or(ScanError::Protocol)?;
    if said.ends_with("ERROR") {
        return Err(ScanError::Rejected(said.to_owned()));
    }
    let verdict = said.strip_prefix("stream: ").ok_or(ScanError::Protocol)?;
    match (verdict, verdict.strip_suffix(" FOUND")) {
        ("OK", _) => Ok(Verdict::Clean),
        (_, Some(signature)) => Ok(Verdict::Infected(signature.to_owned())),
        _ => Err(ScanError::Protocol),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn a_file_is_clean_or_infected_only_where_clamd_says_so() {
        assert_eq!(parse(b"stream: OK\0").ok(), Some(Verdict::Clean));
        let found = Verdict::Infected("Win.Test.EICAR_HDB-1".to_owned());
        assert_eq!(parse(b"stream: Win.Test.EICAR_HDB-1 FOUND\0").ok(), Some(found));
        for other in [
            &b""[..],
            b"stream: OK",
            b"OK\0",
            b"stream: BOOK\0",
            b"stream: \xff FOUND\0",
        ] {
            assert!(matches!(parse(other), Err(ScanError::Protocol)), "{other:?}");
        }
    }

    #[tokio::test]
    async fn an_answer_in_the_middle_of_a_file_is_heard() -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let scanner = Scanner::new(listener.local_addr()?.to_string(), Duration::from_secs(5));
        let file = tempfile::NamedTempFile::new()?;
        file.as_file().set_len(10 * 1024 * 1024)?;
        let hanging_up = async {
            let (mut line, _) = listener.accept().await?;
            line.read_exact(&mut [0; 4]).await?;
            line.write_all(b"INSTREAM size limit exceeded. ERROR\0").await
        };
        let (answer, hung_up) = tokio::join!(scanner.ask(file.path()), hanging_up);
        hung_up?;
        assert!(matches!(answer, Err(ScanError::Rejected(_))), "{answer:?}");
        Ok(())
    }

    #[tokio::test]
    async fn one_who_hangs_up_without_a_word_has_not_scanned() -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let scanner = Scanner::new(listener.local_addr()?.to_string(), Duration::from_secs(5));
        let file = tempfile::NamedTempFile::new()?;
        let (answer, line) = tokio::join!(scanner.ask(file.path()), async {
            listener.accept().await.map(drop)
        });
        line?;
        assert!(
            matches!(answer, Err(ScanError::Io(_) | ScanError::Protocol)),
            "{answer:?}"
        );
        Ok(())
    }

    #[test]
    fn what_clamd_complains_of_is_kept_and_what_others_say_is_not() {
        let told = |answer: &[u8]| parse(answer).map_err(|error| error.to_string());
        assert_eq!(
            told(b"INSTREAM size limit exceeded. ERROR\0"),
            Err("it says: INSTREAM size limit exceeded. ERROR".to_owned())
        );
        assert_eq!(
            told(b"Dear Ms M\xc3\xbcller\0"),
            Err("it does not speak as clamd does".to_owned())
        );
    }
}
