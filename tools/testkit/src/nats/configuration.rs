//! Configuration of the broker's servers: that of one by itself, and production's on one machine.

use std::{fs, path::Path};

use anyhow::Context;

use super::routes::{Routes, write_certificate};
use crate::{Fsync, MountedCertificate};

/// Who may do what; the same file that a cluster uses.
pub(super) const USERS: &str = include_str!("../../../../crates/broker/nats/users.conf");
/// What each server of production reads, as its pod mounts it.
const PRODUCTION: &str = include_str!("../../../../k8s/components/nats/nats.conf");
const PRODUCTION_CLUSTER: &str = include_str!("../../../../k8s/components/nats/cluster.conf");
const PRODUCTION_CLEAR: &str = include_str!("../../../../k8s/components/nats/tls.conf");
const PRODUCTION_SET: &str = include_str!("../../../../k8s/components/nats/stateful-set.yaml");
/// Where nobody listens: a server that learns of another's address from a third would call it past its proxy.
const NOWHERE: &str = "127.0.0.1:9";

/// Writes what a server by itself reads.
pub(super) fn write_single(
    folder: &Path,
    listens: Listens,
    fsync: Fsync,
    certificate: Option<&MountedCertificate>,
) -> anyhow::Result<()> {
    let store = folder.join("jetstream");
    let store = store.display();
    let sync = match fsync {
        Fsync::Later => "",
        Fsync::Always => "sync_interval: always",
    };
    let tls = certificate.map(|certificate| {
        let [certificate, key] = ["tls.crt", "tls.key"].map(|name| certificate.file(name));
        let [certificate, key] = [certificate.display(), key.display()];
        format!("tls {{ cert_file: \"{certificate}\", key_file: \"{key}\", timeout: 10 }}\n")
    });
    let tls = tls.unwrap_or_default();
    // By itself a server takes three quarters of what is free on the machine, and refuses shares on one that is nearly full.
    let room = setting(PRODUCTION, "max_file_store")?;
    fs::create_dir_all(folder)?;
    let Listens { clients, monitor } = listens;
    let text = format!(
        "listen: 127.0.0.1:{clients}\nhttp: 127.0.0.1:{monitor}\n{tls}jetstream {{ store_dir: \"{store}\"; {room}; {sync} }}\n{USERS}"
    );
    Ok(fs::write(folder.join("nats.conf"), text)?)
}

/// Where a server of a cluster listens.
#[derive(Clone, Copy)]
pub(super) struct Listens {
    pub(super) clients: u16,
    pub(super) monitor: u16,
}

/// Writes what a server of production reads, with nothing changed but what cannot be the same for three of them on one
/// machine.
///
/// # Errors
///
/// Where production's files do not say what is to be changed.
pub(super) fn write_clustered(
    folder: &Path,
    server: usize,
    listens: Listens,
    routes: &Routes,
) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let Listens { clients, monitor } = listens;
    let [pid_file, store] = ["nats.pid", "jetstream"].map(|name| folder.join(name));
    let settings = changed(
        PRODUCTION,
        &[
            ("listen: 0.0.0.0:4222", format!("listen: 127.0.0.1:{clients}")),
            ("http: 0.0.0.0:8222", format!("http: 127.0.0.1:{monitor}")),
            (
                "pid_file: /run/nats/nats.pid",
                format!("pid_file: \"{}\"", pid_file.display()),
            ),
            ("store_dir: /data", format!("store_dir: \"{}\"", store.display())),
        ],
    )?;
    let listen = format!(
        "listen: 127.0.0.1:{}\n  advertise: {NOWHERE}",
        routes.port(server)
    );
    let tls = |key: &str, name: &str| format!("{key}: \"{}\"", folder.join(name).display());
    let cluster = changed(
        PRODUCTION_CLUSTER,
        &[
            ("listen: 0.0.0.0:6222", listen),
            ("cert_file: /etc/nats-routes/tls.crt", tls("cert_file", "tls.crt")),
            ("key_file: /etc/nats-routes/tls.key", tls("key_file", "tls.key")),
            ("ca_file: /etc/nats-routes/ca.crt", tls("ca_file", "ca.crt")),
        ],
    )?;
    write_certificate(folder, routes.authority(), routes.authority())?;
    let files = [
        ("nats.conf", settings),
        ("cluster.conf", cluster),
        ("tls.conf", PRODUCTION_CLEAR.to_owned()),
        ("users.conf", USERS.to_owned()),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// How a server of production collects its garbage, for its environment: <https://pkg.go.dev/runtime#hdr-Environment_Variables>.
///
/// # Errors
///
/// Where its pod does not say so.
pub(super) fn garbage_collection() -> anyhow::Result<[(&'static str, &'static str); 2]> {
    Ok([variable("GOMEMLIMIT")?, variable("GOGC")?])
}

/// A variable of production's pod, with its value.
fn variable(name: &'static str) -> anyhow::Result<(&'static str, &'static str)> {
    let set = PRODUCTION_SET.split_once(&format!("- name: {name}\n"));
    let value = set.and_then(|(_, value)| value.lines().next()?.split_once("value: "));
    let (_, value) =
        value.with_context(|| format!("k8s/components/nats/stateful-set.yaml sets no {name}"))?;
    Ok((name, value.trim_matches('"')))
}

/// The line of a configuration that sets this.
fn setting<'a>(text: &'a str, name: &str) -> anyhow::Result<&'a str> {
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| line.starts_with(name))
        .with_context(|| format!("k8s/components/nats sets no {name}"))
}

/// The text with each of these replaced. Each must stand there, once, and nothing that belongs to a cluster may be left.
fn changed(text: &str, changes: &[(&str, String)]) -> anyhow::Result<String> {
    let mut changed = text.to_owned();
    for (from, to) in changes {
        anyhow::ensure!(
            text.matches(from).count() == 1,
            "k8s/components/nats does not say \"{from}\" once; tools/testkit/src/nats/configuration.rs must follow it"
        );
        changed = changed.replace(from, to);
    }
    for left in ["0.0.0.0", "nats-nodes", ": /"] {
        anyhow::ensure!(
            !changed.contains(left),
            "k8s/components/nats has one more \"{left}\"; tools/testkit/src/nats/configuration.rs must follow it"
        );
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_has_the_room_of_production_on_a_machine_that_is_nearly_full() {
        let folder = tempfile::tempdir().expect("a folder");
        let listens = Listens {
            clients: 1,
            monitor: 2,
        };
        write_single(folder.path(), listens, Fsync::Later, None).expect("it is written");
        let text = fs::read_to_string(folder.path().join("nats.conf")).expect("it is there");
        assert!(text.contains("max_file_store: 18GB;"), "{text}");
    }

    #[test]
    fn a_server_collects_its_garbage_as_in_production() {
        let collection = garbage_collection().expect("it is said");
        assert_eq!(collection, [("GOMEMLIMIT", "900MiB"), ("GOGC", "1000")]);
    }

    #[test]
    fn what_production_says_otherwise_is_not_left_out() {
        let listen = [("listen: 0.0.0.0:4222", "listen: 127.0.0.1:1".to_owned())];
        let taken = changed("listen: 0.0.0.0:4222\nsync_interval: always\n", &listen);
        assert_eq!(
            taken.expect("it is there"),
            "listen: 127.0.0.1:1\nsync_interval: always\n"
        );
        for drifted in [
            "listen: 0.0.0.0:4333\n",
            "listen: 0.0.0.0:4222\nhttp: 0.0.0.0:8222\n",
            "listen: 0.0.0.0:4222\nca_file: /etc/ca.crt\n",
        ] {
            assert!(changed(drifted, &listen).is_err(), "{drifted}");
        }
    }
}
