//! Example that is built with the programs: cargo then selects the features of tests, so tests recompile no dependency.

fn main() {}
