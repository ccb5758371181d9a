//! Stack info: what others need to use a stack that runs, as written to `target/stack.json`.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Serialize;

use super::Stack;
use crate::{Inbox, TraceViewer, User};

/// Addresses and local credentials of a running stack, as written to `target/stack.json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StackInfo {
    site: String,
    health: String,
    inbox: InboxAt,
    #[serde(skip_serializing_if = "Option::is_none")]
    traces: Option<String>,
    nats: NatsAt,
    s3: BTreeMap<&'static str, String>,
    webhooks: BTreeMap<&'static str, String>,
    services: BTreeMap<&'static str, String>,
    pids: BTreeMap<String, u32>,
    logs: PathBuf,
}

#[derive(Serialize)]
struct InboxAt {
    #[serde(skip_serializing_if = "Option::is_none")]
    web: Option<String>,
    smtp: String,
}

#[derive(Serialize)]
struct NatsAt {
    url: String,
    users: BTreeMap<&'static str, Login>,
}

#[derive(Serialize)]
struct Login {
    user: &'static str,
    password: String,
}

impl Stack {
    /// What others need to use this stack.
    pub fn info(&self) -> StackInfo {
        let login = |user: User| Login {
            user: user.name(),
            password: self.nats.password().to_owned(),
        };
        let [endpoint, region, bucket, access_key_id, secret_access_key] =
            self.s3.env().map(|(_, value)| value);
        StackInfo {
            site: self.site(),
            health: self.health(),
            inbox: InboxAt {
                web: self.mail.inbox().map(Inbox::url),
                smtp: format!("127.0.0.1:{}", self.ports.smtp),
            },
            traces: self.viewer.as_ref().map(TraceViewer::url),
            nats: NatsAt {
                url: self.nats.url(),
                users: User::ALL
                    .into_iter()
                    .map(|user| (user.name(), login(user)))
                    .collect(),
            },
            s3: BTreeMap::from([
                ("endpoint", endpoint),
                ("region", region),
                ("bucket", bucket),
                ("accessKeyId", access_key_id),
                ("secretAccessKey", secret_access_key),
            ]),
            webhooks: BTreeMap::from([
                ("url", self.receiver.url()),
                ("secret", self.receiver.secret().to_owned()),
            ]),
            services: self
                .names()
                .into_iter()
                .map(|name| (name, format!("http://127.0.0.1:{}", self.port_of(name))))
                .collect(),
            pids: self.pids(),
            logs: self.settings.logs.clone(),
        }
    }

    fn pids(&self) -> BTreeMap<String, u32> {
        let others = [
            self.mail.inbox().map(Inbox::process),
            self.viewer.as_ref().map(TraceViewer::process),
        ];
        let parts = self.services.iter().chain(self.nats.processes());
        parts
            .chain(others.into_iter().flatten())
            .filter_map(|part| Some((part.name().to_owned(), part.pid()?)))
            .collect()
    }
}
