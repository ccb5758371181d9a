//! Pages and parts of pages, asked for over connections that are kept, as a Gateway does.

use std::{collections::BTreeSet, net::SocketAddr, time::Duration};

use anyhow::Context as _;
use hyper_util::client::legacy::connect::HttpInfo;
use reqwest::Client;
use tokio::{task::JoinSet, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    kubelet::Shared,
    visitors::{FRONT_DOOR, backend},
    within::within,
};

/// One of each deployment that is behind the route; of the gateway what costs it nothing and is not counted against a visitor.
const PATHS: [&str; 4] = [
    "/api/openapi.json",
    "/",
    "/remotes/blog/remoteEntry.js",
    "/remotes/careers/remoteEntry.js",
];
/// Between two of them.
const PAUSE: Duration = Duration::from_millis(200);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// What became of the pages that were asked for.
#[derive(Default)]
pub struct Fetched {
    pages: usize,
    /// Why each did not come that did not.
    failed: Vec<String>,
    /// Our end of each connection that brought one.
    connections: BTreeSet<SocketAddr>,
}

impl Fetched {
    /// Fails where a page did not come, or its connection was not kept.
    ///
    /// # Errors
    ///
    /// With the pages that did not come.
    pub fn all_came(&self, what: &str) -> anyhow::Result<()> {
        let Self { pages, failed, .. } = self;
        anyhow::ensure!(
            failed.is_empty(),
            "{what}: {pages} pages came, {} not: {}",
            failed.len(),
            failed.join("; ")
        );
        let connections = self.connections.len();
        anyhow::ensure!(
            connections * 2 <= *pages,
            "{what}: {pages} pages came over {connections} connections, which were not kept"
        );
        Ok(())
    }

    /// How many came, in a part of a sentence.
    pub fn in_words(&self) -> String {
        format!(
            "{} pages over {} kept connections",
            self.pages,
            self.connections.len()
        )
    }

    fn add(&mut self, address: &str, answer: anyhow::Result<SocketAddr>) {
        match answer {
            Ok(connection) => {
                self.pages += 1;
                self.connections.insert(connection);
            }
            Err(error) => self.failed.push(format!("{address}: {error:?}")),
        }
    }
}

/// Asks for pages until it is told to stop.
///
/// # Errors
///
/// If the front door's network cannot be entered. What becomes of each page is no error.
pub async fn fetch(shared: &Shared, stop: CancellationToken) -> anyhow::Result<Fetched> {
    let mut addresses = Vec::new();
    for path in PATHS {
        let (address, port) = backend(shared, path)?;
        addresses.push(format!("http://{address}:{port}{path}"));
    }
    within(FRONT_DOOR, move || fetch_each(addresses, stop)).await?
}

async fn fetch_each(addresses: Vec<String>, stop: CancellationToken) -> anyhow::Result<Fetched> {
    let http = Client::builder().timeout(ANSWER_TIMEOUT).build()?;
    let mut under_way = JoinSet::new();
    let mut fetched = Fetched::default();
    for address in addresses.iter().cycle() {
        if stop.is_cancelled() {
            break;
        }
        let (http, address) = (http.clone(), address.clone());
        under_way.spawn(async move {
            let answer = fetch_one(&http, &address).await;
            (address, answer)
        });
        sleep(PAUSE).await;
        while let Some(done) = under_way.try_join_next() {
            let (address, answer) = done?;
            fetched.add(&address, answer);
        }
    }
    while let Some(done) = under_way.join_next().await {
        let (address, answer) = done?;
        fetched.add(&address, answer);
    }
    Ok(fetched)
}

/// Our end of the connection that the whole of a page came over.
async fn fetch_one(http: &Client, address: &str) -> anyhow::Result<SocketAddr> {
    let answer = http.get(address).send().await?.error_for_status()?;
    let connection = answer.extensions().get::<HttpInfo>().map(HttpInfo::local_addr);
    anyhow::ensure!(!answer.bytes().await?.is_empty(), "nothing came");
    connection.context("over no connection")
}
