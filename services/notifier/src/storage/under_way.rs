//! Deliveries under way in this process, so that no two of one event and channel go on beside each other.

use std::collections::HashSet;

use tokio::sync::watch;

/// The keys of the deliveries that are under way.
#[derive(Default)]
pub struct UnderWay(watch::Sender<HashSet<String>>);

/// The right to deliver under a key; dropping it lets the next.
pub struct Turn<'a> {
    under_way: &'a UnderWay,
    key: &'a str,
}

impl UnderWay {
    /// Waits until no other delivery is under way under this key.
    pub async fn turn<'a>(&'a self, key: &'a str) -> Turn<'a> {
        let mut keys = self.0.subscribe();
        while !self.0.send_if_modified(|keys| keys.insert(key.to_owned())) {
            tracing::info!("the event came again while it is under way here; waiting for what comes of it");
            // The sender is not gone: we have it.
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
