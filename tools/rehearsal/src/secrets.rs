//! Creates secrets in place of External Secrets and cert-manager.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use testkit::{CertificateAuthority, Usage};
use uuid::Uuid;

use crate::{
    manifests::{Manifests, SecretData, list, text},
    outside::{MAIL_PASSWORD, Outside},
};

/// Example from age's documentation: nobody decrypts these backups.
const RECIPIENT: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";

pub fn fill(manifests: &mut Manifests, outside: &Outside) -> anyhow::Result<()> {
    let mut values = BTreeMap::new();
    let mut authorities = BTreeMap::new();
    let mut secrets = BTreeMap::new();
    for external in manifests.of_kind("ExternalSecret") {
        let mut data = SecretData::new();
        for entry in list(&external["spec"]["data"]) {
            let place = ["key", "property"].map(|part| text(&entry["remoteRef"][part]));
            let value = values
                .entry(place)
                .or_insert_with(|| value_of(place, outside))
                .clone();
            data.insert(text(&entry["secretKey"]).to_owned(), value);
        }
        secrets.insert(text(&external["spec"]["target"]["name"]).to_owned(), data);
    }
    for certificate in manifests.of_kind("Certificate") {
        let spec = &certificate["spec"];
        // No pod reads an authority's secret.
        if spec["isCA"] != true {
            let issued = issue(spec, &mut authorities)?;
            secrets.insert(text(&spec["secretName"]).to_owned(), issued);
        }
    }
    manifests.secrets = secrets;
    Ok(())
}

/// Value of a secret: random, unless an outside server must know it.
fn value_of([key, property]: [&str; 2], outside: &Outside) -> String {
    let is_backups = ["site/s3-backup", "site/backups"].contains(&key);
    let [.., id, secret] = if is_backups {
        &outside.backups
    } else {
        &outside.resumes
    };
    let random = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
    match (key, property) {
        ("site/smtp", "password") => MAIL_PASSWORD.to_owned(),
        ("site/dkim", "key") => STANDARD.encode(random),
        ("site/webhooks", "endpoints") => "[]".to_owned(),
        ("site/backups", "recipients") => RECIPIENT.to_owned(),
        (_, "access-key-id") => id.1.clone(),
        (_, "secret-access-key") => secret.1.clone(),
        // This is long enough for every key. A broker password must start with a letter.
        _ => format!("p{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()),
    }
}

fn issue(
    spec: &Value,
    authorities: &mut BTreeMap<String, CertificateAuthority>,
) -> anyhow::Result<SecretData> {
    let issuer = text(&spec["issuerRef"]["name"]);
    let authority = authorities
        .entry(issuer.to_owned())
        .or_insert(CertificateAuthority::new()?);
    let names: Vec<&str> = list(&spec["dnsNames"]).map(text).collect();
    let usages = list(&spec["usages"]).filter_map(|usage| match text(usage) {
        "server auth" => Some(Usage::ServerAuth),
        "client auth" => Some(Usage::ClientAuth),
        _ => None,
    });
    let [certificate, key] = authority.issue_for(&names, usages.collect())?;
    let files = [
        ("tls.crt", certificate),
        ("tls.key", key),
        ("ca.crt", authority.pem()),
    ];
    Ok(files.map(|(name, content)| (name.to_owned(), content)).into())
}
