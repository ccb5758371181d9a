//! Writes code and reflection descriptors of `proto/` to `src/generated`, without protoc:
//! `cargo run -p site-proto --features generate --example generate`.
//!
//! They are committed, because generating them adds 20 s to every fresh build.

use std::{fs, path::Path};

use prost::Message;

const PACKAGES: [&str; 3] = ["contact", "newsletter", "careers"];

fn main() -> anyhow::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (proto, folder) = (here.join("../../proto"), here.join("src/generated"));
    let files = PACKAGES.map(|name| proto.join(format!("{name}/v1/{name}.proto")));
    let descriptors = protox::compile(files, [&proto])?;
    fs::write(folder.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .bytes(".careers.v1.ApplyRequest.resume_chunk")
        .emit_rerun_if_changed(false)
        .out_dir(folder)
        .compile_fds(descriptors)?;
    Ok(())
}
