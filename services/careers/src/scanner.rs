//! Virus scanner: clamd scans résumés with its INSTREAM command
//! (<https://docs.clamav.net/manual/Usage/Scanning.html>).

use std::{io, path::Path, time::Duration};

use opentelemetry::{KeyValue, metrics::Counter};
use site_events::event::Scan;
use site_service::metrics;
use tokio::{
    fs::File,
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// Timeout of a scan. After it the résumé is accepted unscanned.
pub const SCAN_TIMEOUT: Duration = Duration::from_secs(15);
const NOT_SCANNED: &str = "not_scanned";
const CHUNK_BYTES: usize = 64 * 1024;

/// Client of clamd, which opens a connection for each scan.
pub struct Scanner {
    address: String,
    scans: Counter<u64>,
}

/// Rejection of an infected résumé, with the sentence for the visitor.
#[derive(Debug, thiserror::Error)]
#[error("A virus was found in this file. Please choose another one.")]
pub struct Infected;

impl Scanner {
    pub fn new(address: String) -> Self {
        let description = "Résumés sent to the virus scanner";
        let scans = metrics::counter("site.resume.scans", "{file}", description);
        // Prometheus misses the first increment of a counter that had no value before.
        scans.add(0, &[KeyValue::new("outcome", NOT_SCANNED)]);
        Self { address, scans }
    }

    /// Scans a file. Without a verdict the file is accepted, because losing an application is worse than missing a
    /// scan.
    ///
    /// # Errors
    ///
    /// If the scanner finds a virus.
    pub async fn scan(&self, file: &Path) -> Result<Scan, Infected> {
        let answer = timeout(SCAN_TIMEOUT, self.ask(file)).await;
        let (outcome, scan) = match answer.unwrap_or_else(|late| Err(late.into())) {
            Ok(verdict) if verdict == "stream: OK" => ("clean", Ok(Scan::Clean)),
            Ok(verdict) if verdict.ends_with(" FOUND") => {
                tracing::warn!(verdict, "a résumé was rejected: the scanner found a virus");
                ("infected", Err(Infected))
            }
            answer => {
                tracing::warn!(
                    ?answer,
                    "a résumé was accepted unscanned: the scanner returned no verdict"
                );
                (NOT_SCANNED, Ok(Scan::NotScanned))
            }
        };
        self.scans.add(1, &[KeyValue::new("outcome", outcome)]);
        scan
    }

    /// Returns clamd's verdict. Sends the file in chunks, each after its length; an empty chunk ends the file.
    async fn ask(&self, file: &Path) -> io::Result<String> {
        let mut file = File::open(file).await?;
        let mut clamd = TcpStream::connect(&self.address).await?;
        clamd.write_all(b"zINSTREAM\0").await?;
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let length = file.read(&mut chunk).await?;
            let prefix = u32::try_from(length).map_err(io::Error::other)?;
            clamd.write_u32(prefix).await?;
            clamd.write_all(&chunk[..length]).await?;
            if length == 0 {
                break;
            }
        }
        let mut answer = String::new();
        clamd.read_to_string(&mut answer).await?;
        Ok(answer.trim_end_matches('\0').to_owned())
    }
}
