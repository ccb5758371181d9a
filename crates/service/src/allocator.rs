//! jemalloc as the allocator of every program that links this crate, if the feature `jemalloc` is on.
//!
//! Its background threads give memory back after a peak; glibc keeps it. Images and benches turn the feature on. Other builds
//! leave it off: compiling its C takes a minute of processor time. `docs/decisions/0016-memory-goes-back-after-a-peak.md`

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
