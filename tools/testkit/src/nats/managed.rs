//! Managed broker: one account with one user, who logs in by credentials (NATS's "decentralized JWT authentication").

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use nkeys::KeyPair;
use serde_json::{Value, json};

pub(super) struct Managed {
    /// Accounts in the server's configuration.
    pub accounts: String,
    /// Content of the user's `.creds` file.
    pub credentials: String,
}

impl Managed {
    pub(super) fn new() -> anyhow::Result<Self> {
        let (operator, system) = (KeyPair::new_operator(), KeyPair::new_account());
        let (account, user) = (KeyPair::new_account(), KeyPair::new_user());
        let of_operator = jwt(&operator, &operator, &json!({ "type": "operator", "version": 2 }))?;
        let of_system = jwt(&operator, &system, &json!({ "type": "account", "version": 2 }))?;
        let unlimited = [
            "conn",
            "subs",
            "data",
            "payload",
            "disk_storage",
            "streams",
            "consumer",
        ];
        let limits: Value = unlimited.into_iter().map(|name| (name, -1)).collect();
        let of_account = json!({ "type": "account", "version": 2, "limits": limits });
        let of_account = jwt(&operator, &account, &of_account)?;
        let of_user = json!({ "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1 });
        let of_user = jwt(&account, &user, &of_user)?;
        let [system, account] = [system, account].map(|key| key.public_key());
        Ok(Self {
            accounts: format!(
                "authorization {{ timeout: 10 }}\noperator: {of_operator}\nsystem_account: {system}\n\
                 resolver: MEMORY\nresolver_preload {{\n  {system}: {of_system}\n  {account}: {of_account}\n}}\n"
            ),
            credentials: format!(
                "-----BEGIN NATS USER JWT-----\n{of_user}\n------END NATS USER JWT------\n\n\
                 -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
                user.seed()?
            ),
        })
    }
}

fn jwt(issuer: &KeyPair, subject: &KeyPair, nats: &Value) -> anyhow::Result<String> {
    let claims = json!({ "iss": issuer.public_key(), "sub": subject.public_key(), "nats": nats });
    let parts = [json!({ "typ": "JWT", "alg": "ed25519-nkey" }), claims];
    let signed = parts
        .map(|part| URL_SAFE_NO_PAD.encode(part.to_string()))
        .join(".");
    let signature = URL_SAFE_NO_PAD.encode(issuer.sign(signed.as_bytes())?);
    Ok(format!("{signed}.{signature}"))
}
