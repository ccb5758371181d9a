//! Writes what is published about the events into a folder:
//! `cargo run -p site-events --example documents -- docs/events`.

use std::{env, fs, io, path::Path};

fn main() -> io::Result<()> {
    let folder = env::args_os()
        .nth(1)
        .ok_or_else(|| io::Error::other("name the folder to write to, such as docs/events"))?;
    for (name, document) in site_events::documents::all() {
        fs::write(Path::new(&folder).join(name), format!("{document:#}\n"))?;
    }
    Ok(())
}
