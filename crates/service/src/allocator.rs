//! jemalloc, for programs that link this crate with the feature `jemalloc`.
//!
//! Its background threads return memory after a peak; glibc keeps it. Only images and benches turn it on: its
//! C takes a minute to compile. `docs/decisions/0016-memory-goes-back-after-a-peak.md`

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
