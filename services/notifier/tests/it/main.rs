//! The notifier as its neighbours meet it.

mod snapshots;
