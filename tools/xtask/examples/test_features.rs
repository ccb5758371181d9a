//! Built with the programs: cargo then gives their dependencies the features that tests need, so that tests compile none of them anew.

fn main() {}
