//! Real NATS, S3, SMTP and services for tests, benches and `cargo xtask up`. Only vendors' HTTP APIs are mocked. The S3
//! and mail servers run inside the test process and fail on demand.
#![expect(clippy::missing_errors_doc, reason = "a test ends at whatever fails")]

mod certificate_authority;
mod child_process;
pub mod external_program;
pub mod generated;
mod helpers;
mod hosting;
pub mod http_stand_in;
pub mod mail_server;
pub mod measure;
mod mounted_certificate;
mod nats;
mod ports;
mod program_flags;
mod publishing;
pub mod receiver;
mod s3;
mod shape;
mod small_disk;
mod stack;
mod subscribers;
mod tcp_proxy;

pub use self::subscribers::{SeededSubscriber, seed_subscribers};
pub use certificate_authority::{CertificateAuthority, Usage};
pub use child_process::ChildProcess;
pub use http_stand_in::HttpStandIn;
pub use mail_server::{MailFault, MailServer, ScriptedReply};
pub use mounted_certificate::MountedCertificate;
pub use nats::{Nats, PERSON_KEY, User};
pub use ports::{Ports, free_ports};
pub use program_flags::{notifier_flags, pass_flags};
pub use publishing::publish_all;
pub use receiver::Receiver;
pub use s3::{S3, S3Fault, serve_folder};
pub use shape::{Broker, Hosting, Shape};
pub use small_disk::SmallDisk;
pub use stack::{RECRUITERS_TO, SALES_TO, Stack};
pub use tcp_proxy::TcpProxy;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::time::{Instant, sleep};

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Polls until there is a value, or a timeout.
pub async fn eventually<T>(
    what: &str,
    within: Duration,
    mut ask: impl AsyncFnMut() -> Option<T>,
) -> anyhow::Result<T> {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return Ok(answer);
        }
        anyhow::ensure!(
            started.elapsed() < within,
            "{what}: not within {} s",
            within.as_secs_f32()
        );
        sleep(POLL_INTERVAL).await;
    }
}

/// Root of the checkout.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}
