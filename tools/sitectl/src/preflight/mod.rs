//! `sitectl preflight`: whether a cluster has what an overlay needs, before the first `kubectl apply`.
//!
//! What is needed is read in the rendered overlay; what is there, `kubectl` is asked.

mod judgement;
mod kubectl;
mod needs;
mod quantity;

use std::path::PathBuf;

use clap::Args;

use self::{
    kubectl::{Answer, Kubectl},
    needs::Needs,
};
use crate::finding::{self, Finding};

/// Which overlay, and which cluster.
#[derive(Args, Debug)]
pub struct PreflightArgs {
    /// Folder of the overlay, or a file of what it renders to
    overlay: PathBuf,
    /// The cluster, as kubectl's configuration names it; without it the one that is kubectl's current
    #[arg(long)]
    context: Option<String>,
    /// The program kubectl, 1.30 or newer
    #[arg(long, default_value = "kubectl")]
    kubectl: PathBuf,
    /// Answers in JSON
    #[arg(long)]
    json: bool,
}

/// Looks at the cluster, and tells what it lacks.
///
/// # Errors
///
/// If the overlay does not render, the cluster does not answer, or something is wrong, once all is told.
pub async fn preflight(args: &PreflightArgs) -> anyhow::Result<()> {
    let kubectl = Kubectl::new(&args.kubectl, args.context.as_deref());
    let needs = Needs::of(&kubectl.rendered(&args.overlay).await?)?;
    let version = kubectl.get("/version").await?;
    // Who does not tell this tells nothing.
    if let Answer::Failed(complaint) = &version {
        anyhow::bail!("the cluster cannot be asked for /version: {complaint}");
    }
    let mut findings = vec![judgement::version(&version)];
    findings.extend(examine_nodes(&kubectl, &needs).await?);
    if needs.default_class_volumes > 0 {
        let classes = kubectl.get("/apis/storage.k8s.io/v1/storageclasses").await?;
        findings.push(judgement::storage_class(&classes, needs.default_class_volumes));
    }
    findings.extend(examine_apis(&kubectl, &needs).await?);
    for gateway in &needs.gateways {
        let path = format!(
            "/apis/{}/namespaces/{}/gateways/{}",
            needs::GATEWAY_API,
            gateway.namespace,
            gateway.name
        );
        findings.push(judgement::gateway(gateway, &kubectl.get(&path).await?));
    }
    if !needs.namespaces.is_empty() {
        let namespaces = kubectl.get("/api/v1/namespaces").await?;
        let judge = |labels| judgement::namespace(labels, &namespaces);
        findings.extend(needs.namespaces.iter().map(judge));
    }
    for store in &needs.secret_stores {
        findings.push(judgement::secret_store(store, &kubectl.get(&store.path()).await?));
    }
    for secret in &needs.pull_secrets {
        let path = format!("/api/v1/namespaces/{}/secrets/{}", secret.namespace, secret.name);
        findings.push(judgement::pull_secret(secret, &kubectl.get(&path).await?));
    }
    finding::report(&findings, args.json)
}

/// Whether all pods find room.
async fn examine_nodes(kubectl: &Kubectl, needs: &Needs) -> anyhow::Result<Vec<Finding>> {
    let nodes = kubectl.get("/api/v1/nodes").await?;
    let running = "/api/v1/pods?fieldSelector=status.phase!=Succeeded,status.phase!=Failed";
    let pods = kubectl.get(running).await?;
    Ok(judgement::nodes(needs, &nodes, &pods))
}

/// Whether the cluster knows every kind of the overlay, in its version.
async fn examine_apis(kubectl: &Kubectl, needs: &Needs) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (version, kinds) in &needs.apis {
        let root = if version.contains('/') { "/apis" } else { "/api" };
        let path = format!("{root}/{version}");
        findings.push(judgement::api(version, kinds, &kubectl.get(&path).await?));
        if version == needs::GATEWAY_API {
            let routes = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/httproutes.gateway.networking.k8s.io";
            findings.push(judgement::gateway_api(&kubectl.get(routes).await?));
        }
    }
    Ok(findings)
}
