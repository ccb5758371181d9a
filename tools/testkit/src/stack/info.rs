//! Addresses and credentials for `target/stack.json`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Stack;
use crate::User;

impl Stack {
    /// Addresses, credentials and process ids.
    pub fn info(&self) -> Value {
        let ports = &self.ports;
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let users = User::all().map(|user| {
            let login = json!({ "user": user.name(), "password": self.nats.password_of(user) });
            (user.name(), login)
        });
        let [endpoint, region, bucket, access_key_id, secret_access_key] =
            self.s3.env().map(|(_, value)| value);
        let services = self.parts.iter().map(|part| (part.name, self.url_of(part.name)));
        let processes = self
            .services
            .iter()
            .chain(&self.helpers)
            .chain(self.nats.processes());
        let pids = processes.map(|process| (&process.name, process.pid()));
        json!({
            "site": self.site(),
            "health": self.health(),
            "inbox": {
                "web": self.shape.inbox.then(|| url(ports.inbox)),
                "smtp": format!("127.0.0.1:{}", ports.smtp),
            },
            "traces": self.shape.observe.then(|| url(ports.traces)),
            "nats": { "url": self.nats.url(), "users": users.collect::<BTreeMap<_, _>>() },
            "s3": {
                "endpoint": endpoint,
                "region": region,
                "bucket": bucket,
                "accessKeyId": access_key_id,
                "secretAccessKey": secret_access_key,
            },
            "services": services.collect::<BTreeMap<_, _>>(),
            "pids": pids.collect::<BTreeMap<_, _>>(),
            "logs": self.logs,
        })
    }
}
