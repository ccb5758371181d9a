//! The allocator of the services: jemalloc, whose background threads give the system back what a peak took.
//!
//! glibc keeps it: a gateway that 400 visitors waited at stayed at 42 MB for good, with 2 MB in use.
//! Figures, what else was tried, and who has it: `docs/decisions/0016-memory-goes-back-after-a-peak.md`.

pub use tikv_jemallocator::Jemalloc;
