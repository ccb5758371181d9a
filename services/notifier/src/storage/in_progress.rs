//! Deliveries in progress in this process, so that duplicates of an event and channel do not run concurrently.

use std::collections::HashSet;

use tokio::sync::watch;

#[derive(Default)]
pub struct InProgress(watch::Sender<HashSet<String>>);

/// Lock on a key, released on drop.
pub struct Turn<'a> {
    locks: &'a InProgress,
    key: &'a str,
}

impl InProgress {
    /// Waits for the lock on this key.
    pub async fn turn<'a>(&'a self, key: &'a str) -> Turn<'a> {
        let mut keys = self.0.subscribe();
        while !self.0.send_if_modified(|keys| keys.insert(key.to_owned())) {
            tracing::info!("a duplicate of an event in progress; waiting for the first delivery");
            // Cannot fail, because we own the channel's sender.
            let _free = keys.wait_for(|keys| !keys.contains(key)).await;
        }
        Turn { locks: self, key }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.locks.0.send_if_modified(|keys| keys.remove(self.key));
    }
}
