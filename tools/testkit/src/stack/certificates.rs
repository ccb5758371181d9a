//! The certificates of a stack whose parts speak TLS with each other.

use crate::{CertificateAuthority, MountedCertificate, Tls};

/// Where all parts are.
const HOST: &str = "127.0.0.1";

/// What each part shows of itself.
pub(super) struct Certificates {
    pub(super) broker: MountedCertificate,
    services: MountedCertificate,
    gateway: MountedCertificate,
}

impl Certificates {
    /// Issues them where they are needed.
    pub(super) fn issue(tls: Tls) -> anyhow::Result<Option<Self>> {
        if tls == Tls::Off {
            return Ok(None);
        }
        let authority = CertificateAuthority::new()?;
        let server = || MountedCertificate::new(authority.issue_to_server(&[HOST])?, &authority);
        Ok(Some(Self {
            broker: server()?,
            services: server()?,
            gateway: MountedCertificate::new(authority.issue_to_client("gateway")?, &authority)?,
        }))
    }

    /// What a part is told of them, by its name.
    pub(super) fn env_of(&self, name: &str) -> Vec<(String, String)> {
        let of_the_broker = [("NATS_CA_FILE", self.broker.file("ca.crt"))];
        let of_grpc = |certificate: &MountedCertificate| {
            [
                ("GRPC_CA_FILE", "ca.crt"),
                ("GRPC_CERTIFICATE_FILE", "tls.crt"),
                ("GRPC_KEY_FILE", "tls.key"),
            ]
            .map(|(setting, file)| (setting, certificate.file(file)))
        };
        let files = match name {
            "gateway" => of_grpc(&self.gateway).to_vec(),
            "notifier" => of_the_broker.to_vec(),
            "contact" | "newsletter" | "careers" => [&of_the_broker[..], &of_grpc(&self.services)].concat(),
            _ => Vec::new(),
        };
        let variables = files.into_iter();
        variables
            .map(|(setting, file)| (setting.to_owned(), file.display().to_string()))
            .collect()
    }
}
