//! Writes the code of `proto/` and the descriptors for server reflection into a folder, without protoc:
//! `cargo run -p site-proto --example generate -- crates/proto/src/generated`.
//!
//! They are committed, because a third of a minute of every fresh build would go into compiling what writes them.

use std::{env, fs, path::Path};

use anyhow::Context;
use prost::Message;

const PACKAGES: [&str; 3] = ["contact", "newsletter", "careers"];

fn main() -> anyhow::Result<()> {
    let folder = env::args_os()
        .nth(1)
        .context("name the folder to write to, such as crates/proto/src/generated")?;
    generate(Path::new(&folder))
}

fn generate(folder: &Path) -> anyhow::Result<()> {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn files_of(folder: &Path) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
        fs::read_dir(folder)?
            .map(|entry| {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                Ok((name, fs::read(entry.path())?))
            })
            .collect()
    }

    #[test]
    fn what_is_committed_is_what_the_contracts_say() -> anyhow::Result<()> {
        let fresh = tempfile::tempdir()?;
        generate(fresh.path())?;
        let fresh = files_of(fresh.path())?;
        let committed = files_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/generated"))?;
        assert!(
            fresh == committed,
            "run `cargo run -p site-proto --example generate -- crates/proto/src/generated`"
        );
        Ok(())
    }
}
