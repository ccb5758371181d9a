//! Runs a container as a process in the pod's network. Its root has the image's files and the pod's volumes.

use std::{
    fs::{self, File},
    path::Path,
    process::Stdio,
    time::Duration,
};

use anyhow::Context as _;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use tokio::{
    process::{Child, Command},
    time::{sleep, timeout},
};

use crate::{
    cluster::{Cluster, FOLDER, SHARED},
    environment::environment,
    images::Image,
    manifests::{Pod, list, text},
    volumes::mounts,
};

const ENTER: &str = "tools/rehearsal/scripts/enter.sh";

/// Process in a pod. Dropping it kills the process.
pub struct Container {
    pod: Pod,
    process: Child,
    rights: Vec<String>,
}

impl Container {
    /// # Errors
    ///
    /// If the manifest uses a feature that the rehearsal lacks.
    pub fn start(cluster: &Cluster, pod: &Pod) -> anyhow::Result<Self> {
        let (name, container) = (&pod.name, pod.container());
        let image = Image::find(text(&container["image"]));
        let image = image.with_context(|| format!("no program for {}", container["image"]))?;
        let env = environment(pod, &cluster.manifests, &image)?;
        let rights = rights(pod);
        let all = [image.files, mounts(pod, &cluster.manifests)?].concat();
        let root = Path::new(FOLDER).join("roots").join(name);
        fs::create_dir_all(&root)?;
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{name}"));
        command.args("unshare --mount --ipc --uts".split(' '));
        command.arg(testkit::root().join(ENTER)).arg(root);
        command.args([SHARED, &all.len().to_string()]);
        for (from, at, is_read_only) in all {
            command.arg(from).arg(at);
            command.arg(if is_read_only { "ro" } else { "rw" });
        }
        command.args(&rights);
        if container["command"].is_null() {
            command.arg(image.entry_point);
        }
        let words = list(&container["command"]).chain(list(&container["args"]));
        command.args(words.map(text));
        let log = Path::new(FOLDER).join(format!("{name}.log"));
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

    /// Stops the container as a kubelet does: `preStop`, then SIGTERM.
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
            if !hook["exec"].is_null() {
                self.exec(&hook["exec"]["command"]).await?;
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

    /// Runs a command in the container, as `kubectl exec` does.
    async fn exec(&self, command: &Value) -> anyhow::Result<()> {
        let target = self.process.id().context("it has ended")?.to_string();
        let mut exec = Command::new("nsenter");
        exec.args([
            "--target", &target, "--net", "--mount", "--uts", "--ipc", "--root",
        ]);
        exec.args(&self.rights).args(list(command).map(text));
        let status = exec.kill_on_drop(true).status().await?;
        anyhow::ensure!(status.success(), "{command} in {} failed", self.pod.name);
        Ok(())
    }
}

/// Options that drop privileges. Tests in `k8s/tests` require this of every pod; only the users differ.
fn rights(pod: &Pod) -> Vec<String> {
    let context = &pod.spec["securityContext"];
    let [user, group, files] = ["runAsUser", "runAsGroup", "fsGroup"].map(|id| &context[id]);
    let rights = format!(
        "setpriv --reuid={user} --regid={group} --groups={files} --pdeathsig=KILL --no-new-privs \
         --bounding-set=-all --inh-caps=-all --ambient-caps=-all"
    );
    rights.split(' ').map(str::to_owned).collect()
}
