//! Replaces container images by programs of this checkout.

use std::path::Path;

use crate::volumes::Mount;

const BRAND: &str = "/etc/site/brand.json";

pub struct Image {
    pub entry_point: String,
    pub files: Vec<Mount>,
    pub env: &'static [(&'static str, &'static str)],
}

impl Image {
    /// Finds an image by its reference. `None` if the rehearsal lacks its program.
    pub fn find(reference: &str) -> Option<Self> {
        let path = reference.rsplit('/').next()?;
        let name = path.split(':').next()?;
        let (folder, program) = match name {
            "gateway" | "contact" | "newsletter" | "careers" | "notifier" | "sitectl" => {
                ("target/debug", name)
            }
            "nats" => ("target/tools", "nats-server"),
            _ => return None,
        };
        let file = |path: &Path, at: &str| (testkit::root().join(path), at.to_owned(), true);
        let entry_point = format!("/usr/local/bin/{program}");
        let mut files = vec![file(&Path::new(folder).join(program), &entry_point)];
        let mut env: &[_] = &[];
        if name == "notifier" {
            files.push(file(Path::new("brand.json"), BRAND));
            files.push(file(Path::new("recipes"), "/etc/site/recipes"));
            // The notifier rejects the brand's example addresses by default.
            env = &[("BRAND_FILE", BRAND), ("ALLOW_EXAMPLE_ADDRESSES", "true")];
        }
        Some(Self {
            entry_point,
            files,
            env,
        })
    }
}
