//! One set of features for every crate that we depend on, whichever members of the workspace are built and whether they
//! are tested: cargo compiles a crate once for each set of features that it is asked for. Only tests depend on this.
