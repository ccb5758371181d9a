//! Certificates that cert-manager would fill a cluster's secrets with, by an authority for each issuer.

use std::collections::BTreeMap;

use k8s_openapi::{ByteString, api::core::v1::Secret};
use serde::Deserialize;
use testkit::CertificateAuthority;

/// A certificate that cert-manager would issue (`cert-manager.io/v1`), as far as it is used here.
#[derive(Deserialize)]
pub struct Certificate {
    spec: CertificateSpec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CertificateSpec {
    secret_name: String,
    #[serde(default, rename = "isCA")]
    is_authority: bool,
    #[serde(default)]
    dns_names: Vec<String>,
    #[serde(default)]
    usages: Vec<String>,
    issuer_ref: IssuerRef,
}

#[derive(Deserialize)]
struct IssuerRef {
    name: String,
}

/// The authorities of the issuers, by their names.
#[derive(Default)]
pub struct Issuers(BTreeMap<String, CertificateAuthority>);

impl Issuers {
    /// The secret of a certificate, issued anew; none of an authority's own, as nobody here reads it.
    ///
    /// # Errors
    ///
    /// If it cannot be issued.
    pub fn issue(&mut self, certificate: &Certificate) -> anyhow::Result<Option<(String, Secret)>> {
        let spec = &certificate.spec;
        if spec.is_authority {
            return Ok(None);
        }
        let issuer = spec.issuer_ref.name.clone();
        if !self.0.contains_key(&issuer) {
            self.0.insert(issuer.clone(), CertificateAuthority::new()?);
        }
        let authority = &self.0[&issuer];
        let names: Vec<&str> = spec.dns_names.iter().map(String::as_str).collect();
        let has = |usage: &str| spec.usages.iter().any(|given| given == usage);
        let [certificate, key] = match (has("server auth"), has("client auth"), names.as_slice()) {
            (true, true, [name]) => authority.issue_to_peers(name)?,
            (true, false, names) => authority.issue_to_server(names)?,
            (false, true, [name]) => authority.issue_to_client(name)?,
            _ => anyhow::bail!(
                "{} is a certificate of a kind that is not known here",
                spec.secret_name
            ),
        };
        let files = [
            ("tls.crt", certificate),
            ("tls.key", key),
            ("ca.crt", authority.pem()),
        ];
        let data = files.map(|(name, content)| (name.to_owned(), ByteString(content.into_bytes())));
        let secret = Secret {
            data: Some(data.into()),
            ..Secret::default()
        };
        Ok(Some((spec.secret_name.clone(), secret)))
    }
}
