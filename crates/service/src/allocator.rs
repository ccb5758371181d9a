//! jemalloc, for programs that link this crate with the feature `jemalloc`.
//!
//! It returns memory after a peak (`docs/decisions/0016-memory-goes-back-after-a-peak.md`). Only images and
//! benches turn it on, as its C code takes a minute to compile.

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
