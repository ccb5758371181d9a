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
    let (above, _) = file.split_once(TRIGGERS).expect("the file has triggers");
    let triggers = Channel::ALL.map(|channel| {
        format!(
            "    - type: nats-jetstream
      metadata:
        natsServerMonitoringEndpoint: nats-nodes.site.svc.cluster.local:8222
        account: SITE
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
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let names_one = |line: &&str| line.contains(ABSENT);
    let first = lines
        .iter()
        .position(names_one)
        .expect("the alert names channels");
    let behind = lines[first..].iter().skip_while(|line| names_one(line));
    let asked: Vec<String> = consumers()
        .map(|consumer| format!("{ABSENT}{consumer}\"}})\n"))
        .collect();
    let indent = " ".repeat(12);
    let asked = format!("{indent}{}", asked.join(&format!("{indent}or ")));
    [lines[..first].concat(), asked, behind.copied().collect()].concat()
}
