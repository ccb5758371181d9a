//! Built with the programs: cargo then selects the features of tests, which recompile no dependency.

fn main() {}
