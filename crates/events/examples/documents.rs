//! Writes what is published about the events, and the channels into the files of the cluster:
//! `cargo run -p site-events --example documents`.

use std::{fs, io, path::Path};

use site_events::documents;

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, document) in documents::all() {
        fs::write(root.join("docs/events").join(name), format!("{document:#}\n"))?;
    }
    for (file, renewed) in documents::CLUSTER_FILES {
        let path = root.join(file);
        fs::write(&path, renewed(&fs::read_to_string(&path)?))?;
    }
    Ok(())
}
