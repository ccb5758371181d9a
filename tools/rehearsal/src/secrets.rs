//! Secrets with usable values in place of the overlay's examples, and certificates in place of cert-manager's.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use testkit::{CertificateAuthority, Usage};

use crate::{
    manifests::{Manifests, list, text, texts},
    outside::{MAIL_PASSWORD, Outside},
};

/// Example from age's documentation: nobody decrypts these backups.
const RECIPIENT: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";

/// Replaces the data of each secret by usable values, as plain text, and adds the secrets of certificates.
pub fn fill(manifests: &mut Manifests, outside: &Outside) -> anyhow::Result<()> {
    let mut authorities = BTreeMap::new();
    let mut issued = Vec::new();
    for object in &mut manifests.objects {
        if object["kind"] == "Secret" {
            let mut data = BTreeMap::new();
            for (key, encoded) in texts(&object["data"]) {
                let example = String::from_utf8(STANDARD.decode(encoded)?)?;
                data.insert(key.to_owned(), value_of(key, example, outside));
            }
            object["data"] = json!(data);
        } else if object["kind"] == "Certificate" && object["spec"]["isCA"] != true {
            // An authority's own secret is left out: no pod reads it.
            issued.push(issue(&object["spec"], &mut authorities)?);
        }
    }
    manifests.objects.extend(issued);
    Ok(())
}

/// Returns a value that the outside servers know, or one long enough for every key. Programs that share a key have the
/// same example, so they get the same value.
fn value_of(key: &str, example: String, outside: &Outside) -> String {
    let [.., (_, user), (_, secret)] = outside.store.env();
    let [.., (_, backup_user), _] = outside.store.backups_env();
    match key {
        "smtp-password" => MAIL_PASSWORD.to_owned(),
        "s3-access-key-id" => user,
        "backups-access-key-id" => backup_user,
        "s3-secret-access-key" | "backups-secret-access-key" => secret,
        "recipients" => RECIPIENT.to_owned(),
        "webhooks" => example,
        _ => example.replace('-', "").repeat(3),
    }
}

fn issue(spec: &Value, authorities: &mut BTreeMap<String, CertificateAuthority>) -> anyhow::Result<Value> {
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
    Ok(json!({
        "kind": "Secret",
        "metadata": { "name": spec["secretName"] },
        "data": { "tls.crt": certificate, "tls.key": key, "ca.crt": authority.pem() },
    }))
}
