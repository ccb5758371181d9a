//! Replaces container images by programs of this checkout or machine.

use std::path::{Path, PathBuf};

const SCRIPTS: &str = "tools/rehearsal/scripts";
const BRAND: &str = "/etc/site/brand.json";

pub struct Image {
    pub entry_point: String,
    /// Path of each file on this machine, and in the image.
    pub files: Vec<(PathBuf, String)>,
    pub env: &'static [(&'static str, &'static str)],
}

impl Image {
    /// Files of an image; `None` if this machine lacks its program.
    pub fn find(root: &Path, reference: &str) -> Option<Self> {
        let image = |program: &str, folder: &str| {
            let at = format!("/usr/local/bin/{program}");
            Self {
                entry_point: at.clone(),
                files: vec![(root.join(folder).join(program), at)],
                env: &[],
            }
        };
        let ours = |program: &str| image(program, "target/debug");
        let file = |path: &str, at: &str| (root.join(path), at.to_owned());
        let script = |name: &str, at: &str| file(&format!("{SCRIPTS}/{name}"), at);
        let found = match short_name(reference) {
            name @ ("gateway" | "contact" | "newsletter" | "careers" | "sitectl") => ours(name),
            name @ "notifier" => {
                let recipes = file("recipes", "/etc/site/recipes");
                let mut image = ours(name).with([file("brand.json", BRAND), recipes]);
                // The brand's addresses are examples.
                image.env = &[("BRAND_FILE", BRAND), ("ALLOW_EXAMPLE_ADDRESSES", "true")];
                image
            }
            "nats" => image("nats-server", "target/tools").with([file("/bin/sh", "/usr/local/bin/sh")]),
            "clamav" => image("clamd", "target/tools").with([
                script("init-unprivileged", "/init-unprivileged"),
                script("clamdcheck.sh", "/usr/local/bin/clamdcheck.sh"),
            ]),
            _ => return None,
        };
        Some(found)
    }

    fn with<const N: usize>(mut self, files: [(PathBuf, String); N]) -> Self {
        self.files.extend(files);
        self
    }

    pub fn starts(&self, command: &str) -> bool {
        let name = Path::new(command).file_name();
        self.files.iter().any(|(_, at)| Path::new(at).file_name() == name)
    }
}

fn short_name(reference: &str) -> &str {
    let path = reference.split('@').next().unwrap_or(reference);
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split(':').next().unwrap_or(name)
}
