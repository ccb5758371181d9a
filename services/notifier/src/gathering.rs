//! Gathering: what waits for the next bundle. The first to come leads: it waits until the bundle is full, or for as long as it will,
//! and gets all that came.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// How much a bundle holds. One that is larger by itself is a bundle of its own.
#[derive(Debug, Clone, Copy)]
pub struct BundleSize {
    pub members: usize,
    pub bytes: usize,
}

/// What waits for the next bundle.
pub struct Gathering<M> {
    max: BundleSize,
    state: Mutex<State<M>>,
}

struct State<M> {
    /// How many bundles were begun.
    begun: u64,
    open: Option<OpenBundle<M>>,
}

struct OpenBundle<M> {
    members: Vec<M>,
    bytes: usize,
    to_lead: oneshot::Sender<Vec<M>>,
}

/// The lead of a bundle. Where it is dropped, so are its members.
pub struct Lead<'a, M> {
    gathering: &'a Gathering<M>,
    number: u64,
    closed: oneshot::Receiver<Vec<M>>,
}

impl<M> Gathering<M> {
    /// For bundles of this size.
    pub fn new(max: BundleSize) -> Self {
        let state = State { begun: 0, open: None };
        Self {
            max,
            state: Mutex::new(state),
        }
    }

    /// Joins the open bundle, or begins one: then it is the caller's to lead.
    pub fn join(&self, member: M, bytes: usize) -> Option<Lead<'_, M>> {
        let mut state = self.state();
        if let Some(open) = &state.open
            && open.bytes + bytes > self.max.bytes
        {
            state.close();
        }
        let mut lead = None;
        if state.open.is_none() {
            let (to_lead, closed) = oneshot::channel();
            state.begun += 1;
            state.open = Some(OpenBundle {
                members: Vec::new(),
                bytes: 0,
                to_lead,
            });
            lead = Some(Lead {
                gathering: self,
                number: state.begun,
                closed,
            });
        }
        if let Some(open) = &mut state.open {
            open.members.push(member);
            open.bytes += bytes;
            if open.members.len() >= self.max.members {
                state.close();
            }
        }
        lead
    }

    fn state(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> State<M> {
    /// Hands the open bundle to its lead. Where that is gone, its members are dropped.
    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            drop(open.to_lead.send(open.members));
        }
    }
}

impl<M> Lead<'_, M> {
    /// All members, once the bundle is full, or else when this wait is over.
    pub async fn members(mut self, wait: impl Future<Output = ()>) -> Vec<M> {
        tokio::select! {
            biased;
            members = &mut self.closed => return members.unwrap_or_default(),
            () = wait => {}
        }
        // It may have become full in this moment.
        let open = self.take_open();
        open.or_else(|| self.closed.try_recv().ok()).unwrap_or_default()
    }

    fn take_open(&self) -> Option<Vec<M>> {
        let mut state = self.gathering.state();
        let is_open = state.begun == self.number;
        state.open.take_if(|_| is_open).map(|open| open.members)
    }
}

impl<M> Drop for Lead<'_, M> {
    fn drop(&mut self) {
        drop(self.take_open());
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures_util::FutureExt;
    use proptest::prelude::*;

    use super::*;

    fn gathering(members: usize) -> Gathering<u32> {
        Gathering::new(BundleSize { members, bytes: 100 })
    }

    #[tokio::test]
    async fn the_first_to_come_gets_all_when_the_wait_is_over() {
        let gathering = gathering(5);
        let lead = gathering.join(1, 1).expect("the first leads");
        assert!(gathering.join(2, 1).is_none());
        assert!(gathering.join(3, 1).is_none());
        assert_eq!(lead.members(ready(())).await, [1, 2, 3]);
        assert!(gathering.join(4, 1).is_some(), "another bundle begins");
    }

    #[tokio::test]
    async fn a_full_bundle_waits_no_longer_and_the_next_one_begins() {
        let gathering = gathering(2);
        let first = gathering.join(1, 1).expect("the first leads");
        assert!(gathering.join(2, 1).is_none());
        let second = gathering.join(3, 1).expect("it begins another");
        assert_eq!(first.members(pending()).await, [1, 2]);
        let mut members = Box::pin(second.members(pending()));
        assert!(members.as_mut().now_or_never().is_none(), "it is not full");
        assert!(gathering.join(4, 1).is_none());
        assert_eq!(members.await, [3, 4]);
    }

    #[tokio::test]
    async fn what_does_not_fit_begins_the_next_one_however_large_it_is() {
        let gathering = gathering(5);
        let first = gathering.join(1, 60).expect("the first leads");
        let second = gathering.join(2, 60).expect("it does not fit");
        let third = gathering.join(3, 1_000).expect("it fits nowhere");
        let members = [first, second, third].map(|lead| lead.members(pending()).now_or_never());
        assert_eq!(members, [Some(vec![1]), Some(vec![2]), None]);
    }

    #[test]
    fn a_lead_that_is_gone_takes_its_members_with_it_and_nobody_else() {
        let gathering = gathering(2);
        drop(gathering.join(1, 1));
        let second = gathering.join(2, 1).expect("it begins another");
        let full = gathering.join(3, 1);
        assert!(full.is_none());
        let third = gathering.join(4, 1);
        drop(second);
        assert!(
            third.is_some() && gathering.join(5, 1).is_none(),
            "the third is open"
        );
    }

    proptest! {
        #[test]
        fn each_is_in_one_bundle_and_none_is_larger_than_may_be(sizes in prop::collection::vec(1usize..150, 1..60)) {
            let gathering = Gathering::new(BundleSize { members: 4, bytes: 200 });
            let leads: Vec<_> = sizes.iter().enumerate()
                .filter_map(|(number, size)| gathering.join((number, *size), *size))
                .collect();
            let mut seen = Vec::new();
            for lead in leads {
                let members = lead.members(ready(())).now_or_never().expect("nothing is waited for");
                prop_assert!(members.len() <= 4);
                prop_assert!(members.iter().map(|(_, size)| size).sum::<usize>() <= 200);
                seen.extend(members.into_iter().map(|(number, _)| number));
            }
            prop_assert_eq!(seen, (0..sizes.len()).collect::<Vec<_>>());
        }
    }
}
