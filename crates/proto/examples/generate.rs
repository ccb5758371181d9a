//! Writes code and reflection descriptors of `proto/` to `src/generated`, without protoc:
//! `cargo run -p site-proto --features generate --example generate`.
//!
//! The output is committed, because generating it would add 20 s to every fresh build.

use std::{fs, path::Path};

use prost::Message;

const PACKAGES: [&str; 3] = ["contact", "newsletter", "careers"];

/// Lets the gateway read a form from JSON or from an HTML form post, and describe it in OpenAPI.
const FORM: &str = r#"#[derive(serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
#[serde(default, rename_all = "camelCase")]"#;

fn main() -> anyhow::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (proto, folder) = (here.join("../../proto"), here.join("src/generated"));
    let files = PACKAGES.map(|name| proto.join(format!("{name}/v1/{name}.proto")));
    let descriptors = protox::compile(files, [&proto])?;
    let (binary, path) = (descriptors.encode_to_vec(), folder.join("descriptors.bin"));
    // After a write, Cargo compiles every dependent crate again.
    if fs::read(&path).ok().as_ref() != Some(&binary) {
        fs::write(path, binary)?;
    }
    let mut config = tonic_prost_build::configure().bytes(".careers.v1.ApplyRequest.resume_chunk");
    for file in &descriptors.file {
        let comments = &file.source_code_info.clone().unwrap_or_default().location;
        for (at, message) in (0..).zip(&file.message_type) {
            let path = format!(".{}.{}", file.package(), message.name());
            if !path.ends_with("Form") && !path.ends_with("Attribution") {
                continue;
            }
            config = config.type_attribute(&path, FORM);
            for (number, field) in (0..).zip(&message.field) {
                // Path of a field of a message (descriptor.proto, `SourceCodeInfo`).
                let comment = comments
                    .iter()
                    .find(|location| location.path == [4, at, 2, number]);
                let comment = comment.map_or("", |location| location.leading_comments().trim());
                let path = format!("{path}.{}", field.name());
                if let Some(limits) = limits(comment) {
                    config = config.field_attribute(&path, limits);
                }
                if field.name().starts_with("utm_") {
                    // URLs spell these parameters in snake case.
                    config = config.field_attribute(&path, format!("#[serde(alias = {:?})]", field.name()));
                }
            }
        }
    }
    config
        .emit_rerun_if_changed(false)
        .out_dir(folder)
        .compile_fds(descriptors)?;
    Ok(())
}

/// Limits in OpenAPI, from a comment such as "1–200 characters" or "At most 40 characters".
fn limits(comment: &str) -> Option<String> {
    let (before, max) = comment.strip_suffix(" characters")?.rsplit_once(['–', ' '])?;
    let required = if before.starts_with("At most") {
        ""
    } else {
        "required, min_length = 1, "
    };
    let format = if before.contains("address") {
        "format = Email, "
    } else {
        ""
    };
    let max = max.replace(',', "");
    Some(format!("#[schema({required}{format}max_length = {max})]"))
}
