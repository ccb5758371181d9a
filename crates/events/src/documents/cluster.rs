//! KEDA's triggers, one for each mail channel.

use crate::Channel;

/// Repository path of the file with the triggers.
pub(super) const TRIGGERS_FILE: &str = "k8s/components/autoscaling/notifier.yaml";

const TRIGGERS: &str = "\n  triggers:\n";

/// KEDA adds one notifier per 100 pending mails of a channel.
pub(super) fn with_triggers(file: &str) -> String {
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
