//! Limits of what is sent at once: connections by channel, slow messages, and the bytes of attachments.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// The most connections of one channel.
pub const MAX_CONNECTIONS: usize = 4;
/// The most slow messages that count among no channel's connections, of all channels together: with all others and
/// the digest's in use, 49 connections, and mail servers often allow a client 50.
pub const MAX_SLOW: usize = 20;
/// The most bytes of attachments that are fetched, put into messages or written at once: one of the largest that are
/// attached unless told otherwise. While its message is made, an attachment takes up to four times its size: lettre holds
/// it as base64, formats it into a buffer that grows, and signs a copy. Nothing is held while the server answers.
const ATTACHMENT_BUDGET_BYTES: u32 = 8 * 1024 * 1024;

/// One channel's limit of connections: whatever hangs in another holds up nothing here.
pub struct ChannelLimit {
    pub(super) connections: Semaphore,
    pub(super) priority: Priority,
}

/// Whose mails go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Priority {
    /// Somebody waits for it.
    First,
    /// It is begun while no other one is under way.
    Bulk,
}

impl ChannelLimit {
    /// A limit of [`MAX_CONNECTIONS`].
    pub fn new() -> Self {
        Self::of(Priority::First)
    }

    /// The same for mails that let all others go first.
    pub fn bulk() -> Self {
        Self::of(Priority::Bulk)
    }

    fn of(priority: Priority) -> Self {
        Self {
            connections: Semaphore::new(MAX_CONNECTIONS),
            priority,
        }
    }
}

/// How many mails that go first are waiting or under way.
#[derive(Default)]
pub(super) struct FirstMails(watch::Sender<usize>);

/// One of them, until it is dropped.
pub(super) struct FirstMail<'a>(&'a FirstMails);

impl FirstMails {
    pub fn begin(&self) -> FirstMail<'_> {
        self.0.send_modify(|mails| *mails += 1);
        FirstMail(self)
    }

    /// Waits until there is none.
    pub async fn none(&self) {
        let mut mails = self.0.subscribe();
        // The sender is not gone: we have it.
        let _none = mails.wait_for(|mails| *mails == 0).await;
    }
}

impl Drop for FirstMail<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|mails| *mails -= 1);
    }
}

/// Budget of memory for attachments, of all channels together.
pub struct AttachmentBudget(Arc<Semaphore>);

/// An attachment's share of the budget, which it gives back when it is dropped.
#[derive(Default)]
pub struct BudgetShare {
    _permit: Option<OwnedSemaphorePermit>,
}

impl AttachmentBudget {
    /// A budget of [`ATTACHMENT_BUDGET_BYTES`].
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(ATTACHMENT_BUDGET_BYTES as usize)))
    }

    /// Waits until there is room for an attachment of this size. One that is larger than the budget takes it all, one
    /// that is empty waits for nobody.
    pub async fn share(&self, bytes: u64) -> BudgetShare {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        match bytes.min(ATTACHMENT_BUDGET_BYTES) {
            0 => BudgetShare::default(),
            // It is an error only of a semaphore that was closed, and nobody closes this one.
            bytes => BudgetShare {
                _permit: self.0.clone().acquire_many_owned(bytes).await.ok(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn an_attachment_waits_for_room_and_nothing_else_does() {
        let budget = AttachmentBudget::new();
        let three_megabytes = || budget.share(3_000_000).now_or_never();
        let held = [three_megabytes(), three_megabytes()];
        assert!(held.iter().all(Option::is_some));
        assert!(three_megabytes().is_none(), "a third");
        assert!(budget.share(0).now_or_never().is_some(), "no attachment");
        drop(held);
        let larger_than_all = budget.share(u64::MAX).now_or_never();
        assert!(larger_than_all.is_some());
        assert!(budget.share(1).now_or_never().is_none(), "it takes it all");
        drop(larger_than_all);
        assert!(three_megabytes().is_some());
    }
}
