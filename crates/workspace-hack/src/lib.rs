//! One set of features for all dependencies, so that a crate is compiled once.
//!
//! Cargo compiles a crate once for each set of features that it is asked for, whichever members of the workspace are built and
//! whether they are tested. Only tests depend on this.
