//! The overlay that is rehearsed: one of this tree, or a folder over the overlay `production`, as a company writes its own.

use std::{
    collections::BTreeSet,
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};
use k8s_openapi::api::batch::v1::Job;
use reqwest::Url;
use serde::Deserialize;

use crate::{
    flows::{self, Flow},
    manifests::Manifests,
    outside::{Called, Place},
};

const OVERLAYS: &str = "k8s/overlays";
const PRODUCTION: &str = "production";
const RESTORE: &str = "k8s/components/restore";
const FLOWS: &str = "docs/operations-flows.md";
const KUBECTL: &str = "target/tools/k8s/bin/kubectl";
/// Where what is called outside is put: public addresses that are nobody's (RFC 5737).
const STORE: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 10);
const BACKUPS: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 30);
const MAIL: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 20);

/// An overlay, rendered.
pub struct Overlay {
    pub manifests: Manifests,
    /// The same with the component that restores: its job.
    pub restore: Job,
    /// What is written down about who may call whom.
    pub flows: BTreeSet<Flow>,
}

/// A folder's `kustomization.yaml`, as far as it is used here.
#[derive(Deserialize)]
struct Kustomization {
    #[serde(default)]
    resources: Vec<String>,
    #[serde(default)]
    components: Vec<String>,
}

impl Overlay {
    /// Renders the overlay of this name, or in this folder.
    ///
    /// # Errors
    ///
    /// If there is none, nothing is written down about its flows, or it cannot be rendered.
    pub fn of(root: &Path, named: &str) -> anyhow::Result<Self> {
        let folder = root.join(OVERLAYS).join(named);
        let is_ours = !named.contains('/') && folder.is_dir();
        let page = fs::read_to_string(root.join(FLOWS))?;
        let (folder, flows) = if is_ours {
            (folder, flows::written_down(&page, named, &[])?)
        } else {
            let folder = fs::canonicalize(named);
            let folder = folder.with_context(|| format!("{named} is no overlay, and no folder"))?;
            let components = components_over_production(root, &folder)?;
            (folder, flows::written_down(&page, PRODUCTION, &components)?)
        };
        let manifests = Manifests::of(&render(root, &folder)?)?;
        let restore = restore_job(root, &folder, &manifests)?;
        Ok(Self {
            manifests,
            restore,
            flows,
        })
    }
}

/// The names of the components that a folder takes besides those of the overlay `production`.
fn components_over_production(root: &Path, folder: &Path) -> anyhow::Result<Vec<String>> {
    let file = folder.join("kustomization.yaml");
    let text = fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    let kustomization: Kustomization = serde_saphyr::from_str(&text)?;
    let production = root.join(OVERLAYS).join(PRODUCTION).canonicalize()?;
    let mut resources = kustomization.resources.iter();
    anyhow::ensure!(
        resources.any(|resource| folder
            .join(resource)
            .canonicalize()
            .is_ok_and(|resource| resource == production)),
        "{} is not over {}, so nobody knows which flows it is to have",
        file.display(),
        production.display()
    );
    let names = kustomization.components.iter().filter_map(|component| {
        let name = Path::new(component).file_name()?;
        Some(name.to_string_lossy().into_owned())
    });
    Ok(names.collect())
}

/// The job that restores, as docs/operations.md has an operator put it over an overlay.
fn restore_job(root: &Path, overlay: &Path, manifests: &Manifests) -> anyhow::Result<Job> {
    let folder = tempfile::tempdir_in(root.join("target"))?;
    let (workload, ..) = manifests.workloads().next().context("no workload")?;
    let namespace = workload.namespace.as_deref().context("no namespace")?;
    let at = folder.path().canonicalize()?;
    let [overlay, component] = [overlay.to_owned(), root.join(RESTORE)].map(|to| relative(&at, &to));
    let kustomization =
        format!("namespace: {namespace}\nresources: [{overlay:?}]\ncomponents: [{component:?}]\n");
    fs::write(at.join("kustomization.yaml"), kustomization)?;
    let mut jobs = Manifests::of(&render(root, &at)?)?.jobs;
    jobs.pop().context("no job restores")
}

/// The way from one folder to another, by the root: an absolute one is refused by kustomize.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let up = from.components().skip(1).map(|_| "..");
    up.collect::<PathBuf>().join(to.strip_prefix("/").unwrap_or(to))
}

fn render(root: &Path, folder: &Path) -> anyhow::Result<String> {
    let rendered = Command::new(root.join(KUBECTL))
        .arg("kustomize")
        .arg(folder)
        .output();
    let rendered = rendered.context("there is no kubectl; cargo xtask rehearse fetches it")?;
    let complaint = String::from_utf8_lossy(&rendered.stderr);
    anyhow::ensure!(rendered.status.success(), "kubectl kustomize: {complaint}");
    Ok(String::from_utf8(rendered.stdout)?)
}

/// What manifests call outside, each at an address for it.
///
/// # Errors
///
/// If a store is not behind TLS, or the mail server is not called with STARTTLS and a login: no other is known here.
pub fn called(manifests: &Manifests) -> anyhow::Result<Called> {
    let store = store_at(manifests, "S3_ENDPOINT", STORE)?;
    let backups = store_at(manifests, "BACKUP_S3_ENDPOINT", BACKUPS)?;
    let tls = manifests.setting("SMTP_TLS")?;
    anyhow::ensure!(
        tls == "starttls",
        "SMTP_TLS is {tls}: a mail server is known here with starttls"
    );
    let mail = Place {
        host: manifests.setting("SMTP_HOST")?.to_owned(),
        port: manifests.setting("SMTP_PORT")?.parse()?,
        address: MAIL,
    };
    Ok(Called {
        store,
        backups,
        mail,
        mail_user: manifests.setting("SMTP_USER")?.to_owned(),
    })
}

fn store_at(manifests: &Manifests, setting: &str, address: Ipv4Addr) -> anyhow::Result<Place> {
    let endpoint = manifests.setting(setting)?;
    let url: Url = endpoint.parse()?;
    let (Some(host), Some(port), "https") = (url.host_str(), url.port_or_known_default(), url.scheme())
    else {
        bail!("{setting} is {endpoint}: a store is known here outside the cluster, behind https");
    };
    Ok(Place {
        host: host.to_owned(),
        port,
        address,
    })
}
