//! What stands in for an image: the program that it starts, from this checkout or this machine.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use testkit::Clamd;

/// What stands in for the start of the scanner's image: with one signature in the place of those that it would fetch.
const INIT_CLAMD: &str = "#!/bin/sh
cp /signatures/rehearsal.ndb /var/lib/clamav/
exec clamd --foreground --config-file=/etc/clamav/clamd.conf
";
/// The same for the probe of that image.
const CHECK_CLAMD: &str = "#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/3310
printf 'zPING\\0' >&3
read -r -d '' answer <&3
[ \"$answer\" = PONG ]
";

/// Where the programs are.
pub struct Images {
    /// Of this checkout.
    pub root: PathBuf,
    /// Its programs, by their names.
    pub programs: PathBuf,
    /// The file by which pods know whom to trust: in images, public authorities.
    pub authorities: PathBuf,
    /// Where [`Images::write_scripts`] writes.
    pub scripts: PathBuf,
}

/// An image, unpacked.
pub struct Image {
    /// What it starts where no command is given.
    pub entry_point: Vec<String>,
    /// Files and folders of this machine, and where they lie in the image.
    pub files: Vec<(PathBuf, String)>,
    /// Variables that it sets.
    pub env: Vec<(String, String)>,
}

impl Image {
    fn starting(at: &str, program: PathBuf) -> Self {
        Self {
            entry_point: vec![at.to_owned()],
            files: vec![(program, at.to_owned())],
            env: Vec::new(),
        }
    }

    /// Whether it has the program that a command names. What images hold besides is not here.
    pub fn starts(&self, command: &str) -> bool {
        let name = Path::new(command).file_name();
        self.files.iter().any(|(_, at)| Path::new(at).file_name() == name)
    }

    fn with<const N: usize>(mut self, files: [(PathBuf, &str); N]) -> Self {
        self.files.extend(files.map(|(from, at)| (from, at.to_owned())));
        self
    }

    fn with_env<const N: usize>(mut self, env: [(&str, &str); N]) -> Self {
        self.env
            .extend(env.map(|(name, value)| (name.to_owned(), value.to_owned())));
        self
    }
}

impl Images {
    /// The image of this name; none where this machine has no program for it.
    pub fn find(&self, image: &str) -> Option<Image> {
        let tools = self.root.join("target/tools");
        let name = short_name(image);
        match name {
            "gateway" | "contact" | "newsletter" | "careers" | "sitectl" => Some(self.ours(name)),
            "notifier" => {
                let brand = (self.root.join("brand.json"), "/etc/site/brand.json");
                let recipes = (self.root.join("recipes"), "/etc/site/recipes");
                Some(
                    self.ours(name)
                        .with([brand, recipes])
                        .with_env([("BRAND_FILE", "/etc/site/brand.json")]),
                )
            }
            "web-shell" | "web-blog" | "web-careers" => {
                let part = name.trim_start_matches("web-");
                let site = (self.root.join("frontends/dist.split").join(part), "/site");
                Some(self.ours("web").with([site]).with_env([
                    ("SITE_DIR", "/site"),
                    ("LISTEN", "0.0.0.0:8080"),
                    ("HEALTH_LISTEN", "0.0.0.0:8090"),
                ]))
            }
            "nats" => {
                let server = Image::starting("/usr/local/bin/nats-server", tools.join("nats-server"));
                Some(server.with([(PathBuf::from("/bin/sh"), "/usr/local/bin/sh")]))
            }
            "clamav" => {
                let init = Image::starting("/init-unprivileged", self.scripts.join("init-unprivileged"));
                Some(init.with([
                    (tools.join("clamd"), "/usr/local/bin/clamd"),
                    (self.scripts.join("clamdcheck.sh"), "/usr/local/bin/clamdcheck.sh"),
                    (self.scripts.join("rehearsal.ndb"), "/signatures/rehearsal.ndb"),
                ]))
            }
            _ => None,
        }
    }

    /// An image of one of our programs.
    fn ours(&self, name: &str) -> Image {
        Image::starting(&format!("/usr/local/bin/{name}"), self.programs.join(name))
    }

    /// Writes the scripts of images that have some.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn write_scripts(&self) -> anyhow::Result<()> {
        fs::create_dir_all(&self.scripts)?;
        for (name, content) in [
            ("init-unprivileged", INIT_CLAMD),
            ("clamdcheck.sh", CHECK_CLAMD),
            ("rehearsal.ndb", Clamd::signature().as_str()),
        ] {
            let file = self.scripts.join(name);
            fs::write(&file, content)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }
}

/// The name of an image, without where it comes from and which one it is.
pub fn short_name(image: &str) -> &str {
    let path = image.split('@').next().unwrap_or(image);
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split(':').next().unwrap_or(name)
}

/// Whether a path is there, for a message that says so at the start.
///
/// # Errors
///
/// If it is not.
pub fn is_there(path: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(path.exists(), "{} is not there", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_known_by_its_last_name() {
        for (image, name) in [
            ("nats", "nats"),
            ("clamav/clamav:1.4", "clamav"),
            ("registry.example:5000/site/gateway@sha256:00", "gateway"),
        ] {
            assert_eq!(short_name(image), name);
        }
    }
}
