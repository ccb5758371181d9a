//! Deliveries in progress in this process, so that duplicates of an event and channel do not run concurrently.

use std::collections::HashSet;

use tokio::sync::watch;

#[derive(Default)]
pub struct UnderWay(watch::Sender<HashSet<String>>);

/// Lock on a key, released on drop.
pub struct Turn<'a> {
    under_way: &'a UnderWay,
    key: &'a str,
}

impl UnderWay {
    /// Waits for the lock on this key.
    pub async fn turn<'a>(&'a self, key: &'a str) -> Turn<'a> {
        let mut keys = self.0.subscribe();
        while !self.0.send_if_modified(|keys| keys.insert(key.to_owned())) {
            tracing::info!("the event came again while it is under way here; waiting for what comes of it");
            // Cannot fail: we hold the sender.
            let _free = keys.wait_for(|keys| !keys.contains(key)).await;
        }
        Turn { under_way: self, key }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.under_way.0.send_if_modified(|keys| keys.remove(self.key));
    }
}
