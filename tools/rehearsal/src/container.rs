//! Runs a container as a process in the pod's network. Its root has the image's files and the pod's volumes.

use std::{
    fs::File,
    path::PathBuf,
    process::{Output, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::{
    process::{Child, Command},
    time::{sleep, timeout},
};

use crate::{
    environment::{environment, words},
    images::Image,
    manifests::{Manifests, Pod, list, text},
    volumes::{Mount, mounts},
};

/// Default user of our images (images/rust.Dockerfile).
const IMAGE_USER: u64 = 65532;
pub const HOSTS: &str = "hosts";
pub const AUTHORITIES: &str = "authorities.pem";
const ENTER: &str = "tools/rehearsal/scripts/enter.sh";

#[derive(Clone)]
pub struct Node {
    pub root: PathBuf,
    pub folder: PathBuf,
}

pub struct Container {
    pub pod: Pod,
    process: Child,
    rights: Vec<String>,
}

impl Container {
    /// # Errors
    ///
    /// If the manifest uses a feature that the rehearsal lacks.
    pub fn start(node: &Node, manifests: &Manifests, pod: &Pod) -> anyhow::Result<Self> {
        let (name, container) = (&pod.name, pod.container());
        let image = Image::find(&node.root, text(&container["image"]));
        let image = image.with_context(|| format!("no program for {}", container["image"]))?;
        let env = environment(pod, manifests, &image)?;
        let words = words(container, &image, &env);
        let rights = rights(pod);
        let mut files = image.files;
        files.push((
            node.folder.join(AUTHORITIES),
            "/etc/ssl/certs/ca-certificates.crt".to_owned(),
        ));
        files.push((node.folder.join(HOSTS), "/etc/hosts".to_owned()));
        let mut all: Vec<Mount> = files.into_iter().map(|(from, at)| (from, at, true)).collect();
        all.extend(mounts(pod, manifests, &node.folder)?);
        let root = node.folder.join("roots").join(name);
        std::fs::create_dir_all(&root)?;
        let mode = |is_read_only| if is_read_only { "ro" } else { "rw" };
        let is_read_only = container["securityContext"]["readOnlyRootFilesystem"] == true;
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{name}"));
        command.args("unshare --mount --ipc --uts".split(' '));
        command.arg(node.root.join(ENTER)).arg(root);
        command.args([mode(is_read_only), &all.len().to_string()]);
        for (from, at, is_read_only) in all {
            anyhow::ensure!(from.exists(), "{} does not exist", from.display());
            command.arg(from).args([&at, mode(is_read_only)]);
        }
        command.args(&rights).args(words);
        let log = node.folder.join(format!("{name}.log"));
        let log = File::options().create(true).append(true).open(log)?;
        command
            .env_clear()
            .envs(&env)
            .env("PATH", "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        Ok(Self {
            pod: pod.clone(),
            process: command.kill_on_drop(true).spawn()?,
            rights,
        })
    }

    pub fn has_ended(&mut self) -> anyhow::Result<bool> {
        Ok(self.process.try_wait()?.is_some())
    }

    /// Waits for the process to exit. Returns whether it succeeded.
    pub async fn finished(&mut self) -> anyhow::Result<bool> {
        Ok(self.process.wait().await?.success())
    }

    /// Runs a command in the container, as `kubectl exec` does.
    pub async fn exec(&self, command: &[&str]) -> anyhow::Result<()> {
        let target = self.process.id().context("it has ended")?.to_string();
        let mut exec = Command::new("nsenter");
        exec.args([
            "--target", &target, "--net", "--mount", "--uts", "--ipc", "--root",
        ]);
        exec.args(&self.rights).args(command).kill_on_drop(true);
        let Output { status, stderr, .. } = exec.output().await?;
        let error = String::from_utf8_lossy(&stderr);
        anyhow::ensure!(status.success(), "{command:?} in {}: {error}", self.pod.name);
        Ok(())
    }

    /// Stops the container as a kubelet does: `preStop`, SIGTERM, and SIGKILL after the grace period.
    ///
    /// # Errors
    ///
    /// If `preStop` fails, or the container exceeds its grace period.
    pub async fn terminate(mut self) -> anyhow::Result<()> {
        let grace = self.pod.spec["terminationGracePeriodSeconds"].as_u64();
        let grace = Duration::from_secs(grace.context("a pod without a grace period")?);
        let ending = async {
            let hook = self.pod.container()["lifecycle"]["preStop"].clone();
            let pause = hook["sleep"]["seconds"].as_u64().unwrap_or(0);
            sleep(Duration::from_secs(pause)).await;
            let command: Vec<&str> = list(&hook["exec"]["command"]).map(text).collect();
            if !command.is_empty() {
                self.exec(&command).await?;
            }
            if let Some(id) = self.process.id() {
                kill(Pid::from_raw(id.try_into()?), Signal::SIGTERM)?;
            }
            self.finished().await
        };
        let ended = timeout(grace, ending).await;
        ended.with_context(|| format!("{} did not end within its grace", self.pod.name))??;
        Ok(())
    }
}

/// Options that drop privileges as the security contexts say.
fn rights(pod: &Pod) -> Vec<String> {
    let (all, own) = (&pod.spec["securityContext"], &pod.container()["securityContext"]);
    let user = all["runAsUser"].as_u64().unwrap_or(IMAGE_USER);
    let group = all["runAsGroup"].as_u64().unwrap_or(user);
    let files = all["fsGroup"].as_u64().unwrap_or(group);
    let mut rights = format!("setpriv --reuid={user} --regid={group} --groups={files} --pdeathsig=KILL");
    if list(&own["capabilities"]["drop"]).any(|capability| capability == "ALL") {
        rights += " --bounding-set=-all --inh-caps=-all --ambient-caps=-all";
    }
    if own["allowPrivilegeEscalation"] == false {
        rights += " --no-new-privs";
    }
    rights.split(' ').map(str::to_owned).collect()
}
