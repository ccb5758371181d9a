//! Careers service: accepts applications and stores their résumés.
//!
//! [`receiving`] spools the résumé to a temporary file ([`spool`]). [`resume`] checks that the file's content matches
//! its name. If configured, a virus scanner ([`scanner`]) scans the file. [`apply`] stores the application if the
//! gateway commits it.

mod api;
mod application;
mod apply;
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
    /// Connects to the broker and binds the port.
    ///
    /// # Errors
    ///
    /// If a setting is invalid or a dependency does not answer.
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
        let careers = apply::Careers {
            publisher: Publisher::new(client.clone()),
            uploads: Uploads {
                store: store.clone(),
                records,
            },
            person_key,
            spool: spool_dir,
            verification: Verification::default(),
            scanner: settings.clamd.map(Scanner::new),
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

    /// Port that the gRPC server listens on.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Returns the gRPC routes for callers in the same process, such as tests.
    pub fn routes(&self) -> Routes {
        self.server.routes()
    }

    /// Serves until `stop`, then finishes requests in flight.
    ///
    /// # Errors
    ///
    /// If the server stops unexpectedly.
    pub async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        self.server.run(Drain::new(stop, self.grace)).await
    }
}
