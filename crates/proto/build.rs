//! Compiles `proto/` without protoc and writes the descriptor set for reflection.

use std::{env, fs, path::PathBuf};

use anyhow::Context;
use prost::Message;

const PACKAGES: [&str; 3] = ["contact", "newsletter", "careers"];

fn main() -> anyhow::Result<()> {
    let proto = PathBuf::from("../../proto");
    println!("cargo::rerun-if-changed={}", proto.display());
    let files = PACKAGES.map(|name| proto.join(format!("{name}/v1/{name}.proto")));
    let descriptors = protox::compile(files, [&proto])?;

    let out = PathBuf::from(env::var("OUT_DIR").context("cargo sets OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .bytes(".careers.v1.ApplyRequest.resume_chunk")
        .compile_fds(descriptors)?;
    Ok(())
}
