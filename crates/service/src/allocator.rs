//! The allocator of every binary: jemalloc, whose background threads give the system back what a peak took.
//!
//! glibc keeps it: a gateway that 400 visitors waited at stayed at 42 MB for good, with 2 MB in use.
//! Figures, and what else was tried: `docs/decisions/0016-memory-goes-back-after-a-peak.md`.

use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;
