//! Evictions, as an API server takes or refuses them: by the disruption budgets of the manifests, and by which pods are ready.

use anyhow::{Context as _, bail};
use k8s_openapi::{
    api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec},
    apimachinery::pkg::util::intstr::IntOrString,
};

use crate::{
    controllers::Workload,
    kubelet::Shared,
    manifests::Manifests,
    network::{Endpoint, selects},
};

/// Whether an eviction of a pod would be taken (`policy/v1`, `Eviction`, with `dryRun`).
///
/// # Errors
///
/// If there is no such pod, or it has several budgets, with which an API server takes no eviction ever.
pub fn is_taken(shared: &Shared, pod: &str) -> anyhow::Result<bool> {
    let network = shared.network();
    let endpoint = network.endpoints().find(|(name, _)| *name == pod);
    let (_, endpoint) = endpoint.with_context(|| format!("there is no pod {pod}"))?;
    let budgets = shared.manifests.budgets.iter();
    let mut ours = budgets.filter(|budget| counts(budget, endpoint));
    let budget = match (ours.next(), ours.next()) {
        (None, _) => return Ok(true),
        (Some(budget), None) => budget,
        (Some(_), Some(_)) => bail!("{pod} has several disruption budgets"),
    };
    let spec = budget.spec.as_ref().context("a budget without a spec")?;
    let pods = network.endpoints().map(|(_, endpoint)| endpoint);
    let ready = pods.filter(|pod| pod.is_ready && counts(budget, pod)).count();
    let needed = needed(spec, expected(&shared.manifests, budget))?;
    Ok(may_go(spec, endpoint.is_ready, ready, needed))
}

/// Asks for the eviction of each pod of a workload that is ready, and wants it refused. Says how many were.
///
/// # Errors
///
/// If one would be taken.
pub fn are_refused(shared: &Shared, workload: &Workload) -> anyhow::Result<usize> {
    let pods = workload.pods().iter();
    let mut refused = 0;
    for pod in pods.filter(|pod| pod.state().ready_since.is_some()) {
        let name = pod.name();
        anyhow::ensure!(
            !is_taken(shared, name)?,
            "an eviction of {name} is taken while another of its workload is away"
        );
        refused += 1;
    }
    Ok(refused)
}

/// Whether a budget is about a pod.
fn counts(budget: &PodDisruptionBudget, pod: &Endpoint) -> bool {
    let selector = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    budget.metadata.namespace.as_deref() == Some(pod.namespace())
        && selector.is_some_and(|selector| pod.matches(selector))
}

/// How many pods those that have them want, together.
fn expected(manifests: &Manifests, budget: &PodDisruptionBudget) -> i32 {
    let selector = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    let workloads = manifests.workloads();
    let ours = workloads.filter(|(metadata, template, _)| {
        let labels = template
            .metadata
            .as_ref()
            .and_then(|metadata| metadata.labels.clone());
        metadata.namespace == budget.metadata.namespace
            && selector.is_some_and(|selector| selects(selector, &labels.unwrap_or_default()))
    });
    ours.map(|(.., replicas)| replicas).sum()
}

/// How many pods must stay ready.
fn needed(spec: &PodDisruptionBudgetSpec, expected: i32) -> anyhow::Result<usize> {
    let needed = match (&spec.min_available, &spec.max_unavailable) {
        (Some(least), None) => scaled(least, expected)?,
        (None, Some(most)) => expected - scaled(most, expected)?,
        _ => bail!("a budget with both limits, or none"),
    };
    Ok(needed.max(0).try_into()?)
}

/// A number, or a share of the whole, rounded up.
fn scaled(value: &IntOrString, whole: i32) -> anyhow::Result<i32> {
    match value {
        IntOrString::Int(number) => Ok(*number),
        IntOrString::String(share) => {
            let percent = share.strip_suffix('%').context("a share without %")?;
            let part = percent.parse::<i64>()? * i64::from(whole);
            Ok(i32::try_from(part.div_euclid(100) + i64::from(part % 100 > 0))?)
        }
    }
}

/// One that is ready goes where one more is ready than must stay; one that is not, where that is said, or enough are without it.
fn may_go(spec: &PodDisruptionBudgetSpec, is_ready: bool, ready: usize, needed: usize) -> bool {
    if is_ready {
        return ready > needed;
    }
    let always = spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow");
    always || (needed > 0 && ready >= needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(spec: serde_json::Value) -> PodDisruptionBudgetSpec {
        serde_json::from_value(spec).expect("a budget")
    }

    #[test]
    fn a_budget_needs_as_many_as_a_cluster_works_out() {
        for (spec, expected, must_stay) in [
            (serde_json::json!({ "maxUnavailable": 1 }), 3, 2),
            (serde_json::json!({ "maxUnavailable": 2 }), 1, 0),
            (serde_json::json!({ "maxUnavailable": "50%" }), 3, 1),
            (serde_json::json!({ "minAvailable": 2 }), 3, 2),
            (serde_json::json!({ "minAvailable": "50%" }), 3, 2),
        ] {
            let found = needed(&budget(spec.clone()), expected).expect("a number");
            assert_eq!(found, must_stay, "{spec} of {expected}");
        }
    }

    #[test]
    fn one_that_is_not_ready_goes_where_it_holds_up_a_drain() {
        let strict = budget(serde_json::json!({ "maxUnavailable": 1 }));
        let lenient = serde_json::json!({ "maxUnavailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow" });
        let lenient = budget(lenient);
        for (spec, is_ready, ready, goes) in [
            (&strict, true, 3, true),
            (&strict, true, 2, false),
            (&strict, false, 2, true),
            (&strict, false, 1, false),
            (&lenient, false, 1, true),
            (&lenient, true, 2, false),
        ] {
            assert_eq!(
                may_go(spec, is_ready, ready, 2),
                goes,
                "{spec:?} {is_ready} {ready}"
            );
        }
    }
}
