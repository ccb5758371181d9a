//! The careers service: takes applications and stores their résumés.
//!
//! The résumé is spooled to a temporary file while it arrives ([`receiving`], [`spool`]), its content must be
//! what its name says ([`resume`]), a virus scanner has its say where there is one
//! ([`scanner`]), and only a committed application is stored and published ([`apply`]).

mod api;
mod application;
mod apply;
#[cfg(test)]
mod fuzz;
mod receiving;
mod resume;
mod scanner;
mod settings;
mod spool;
mod upload;

use std::{env, time::Duration};

use anyhow::Context;
use resumes::{ResumeStore, UploadRecords};
use site_broker::{Publisher, UPLOADS_BUCKET, person_key_dependency};
use site_events::SITE_STREAM;
use site_proto::careers::v1::careers_service_server::{CareersServiceServer, SERVICE_NAME};
use site_service::{
    drain::{CancellationToken, Drain},
    grpc::GrpcServer,
    health::Dependency,
    nats,
};
use tonic::service::Routes;

use resume::Verification;
use scanner::Scanner;
pub use settings::Settings;
use upload::Uploads;

/// The running service.
pub struct Service {
    server: GrpcServer,
    grace: Duration,
}

impl Service {
    /// Connects to the broker and takes the port.
    ///
    /// # Errors
    ///
    /// If a setting cannot be used, or what it needs does not answer, with the sentence for the log.
    pub async fn build(settings: Settings) -> anyhow::Result<Self> {
        let spool_dir = settings.spool_dir.unwrap_or_else(env::temp_dir);
        tempfile::tempfile_in(&spool_dir).with_context(|| {
            format!(
                "The setting SPOOL_DIR is wrong: {} cannot be written to",
                spool_dir.display()
            )
        })?;
        let client = nats::connect(&settings.nats, "careers").await?;
        let person_key = settings.person.person_key;
        let key_dependency = person_key_dependency(&client, &person_key).await?;
        let store = ResumeStore::new(&settings.store);
        let records = UploadRecords::open(&nats::jetstream(client.clone())).await?;
        let (clamd, scan_timeout) = (settings.clamd, settings.scan_timeout);
        let careers = apply::Careers {
            publisher: Publisher::new(client.clone()),
            uploads: Uploads {
                store: store.clone(),
                records,
            },
            person_key,
            spool: spool_dir,
            verification: Verification::default(),
            scanner: clamd.map(|address| Scanner::new(address, scan_timeout)),
        };
        let routes = Routes::new(CareersServiceServer::new(api::Api { careers }));
        let bucket = Dependency::new("s3", move || {
            let store = store.clone();
            async move { store.check().await.map_err(|error| error.to_string()) }
        });
        let dependencies = vec![
            Dependency::stream(client.clone(), SITE_STREAM),
            Dependency::bucket(client, UPLOADS_BUCKET),
            key_dependency,
            bucket,
        ];
        let server = GrpcServer::bind(settings.listen, &[SERVICE_NAME], routes, dependencies).await?;
        Ok(Self {
            server: server.with(&settings.grpc).await?,
            grace: settings.grace,
        })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// What it answers, without its port: for callers in the same process.
    pub fn routes(&self) -> Routes {
        self.server.routes()
    }

    /// Serves until `stop`, then finishes what is in flight.
    ///
    /// # Errors
    ///
    /// If the server ends unasked.
    pub async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        self.server.run(Drain::new(stop, self.grace)).await
    }
}
