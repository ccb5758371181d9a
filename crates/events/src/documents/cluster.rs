//! The channels in the files of the cluster: KEDA's triggers, and the alert for lag that nobody measures.

use crate::{Channel, channel::consumers};

/// Renews the text of a file.
type Renew = fn(&str) -> String;

/// The cluster's files that name each channel, by their path in the repository, each with what renews its text.
pub(super) const CLUSTER_FILES: [(&str, Renew); 2] = [
    ("k8s/components/autoscaling/notifier.yaml", with_triggers),
    ("k8s/components/observability/alerts/site.yaml", with_alert),
];

const TRIGGERS: &str = "\n  triggers:\n";

/// 100 mails that wait on one channel call for one notifier more.
fn with_triggers(file: &str) -> String {
    let above = file.split(TRIGGERS).next().unwrap_or_default();
    let triggers = Channel::ALL.map(|channel| {
        format!(
            "    - type: nats-jetstream
      metadata:
        natsServerMonitoringEndpoint: nats-nodes.site.svc.cluster.local:8222
        account: $G
        stream: SITE
        consumer: {}
        lagThreshold: \"100\"
",
            channel.name()
        )
    });
    format!("{above}{TRIGGERS}{}", triggers.concat())
}

const ABSENT: &str = "absent(site_consumer_lag{channel=\"";

/// The lines of the alert that ask for one channel each.
fn with_alert(file: &str) -> String {
    let others: Vec<&str> = file
        .split_inclusive('\n')
        .filter(|line| !line.contains(ABSENT))
        .collect();
    let at = file.split_inclusive('\n').position(|line| line.contains(ABSENT));
    let (above, below) = others.split_at(at.unwrap_or(others.len()));
    let asked: Vec<String> = consumers()
        .map(|consumer| format!("{ABSENT}{consumer}\"}})\n"))
        .collect();
    let indent = " ".repeat(12);
    let asked = format!("{indent}{}", asked.join(&format!("{indent}or ")));
    [above.concat(), asked, below.concat()].concat()
}
