//! Adds the features of tests to a build of the programs, so that tests recompile no dependency.

fn main() {}
