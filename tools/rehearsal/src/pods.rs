//! A pod's containers as processes: their command, environment, mounts, user and rights as the manifest says, in a sandbox
//! (bubblewrap) that has the files of the image and the pod's volumes, and in the pod's own network.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, bail};
use k8s_openapi::api::core::v1::{Container, LifecycleHandler, Pod, PodSpec};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use testkit::measure::children;
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};

use crate::{
    environment::{environment, words},
    images::{Image, Images, is_there},
    manifests::{Manifests, name_of},
    volumes::mounts,
};

/// How long until a sandbox has started what it holds.
const SANDBOX_START: Duration = Duration::from_secs(10);
const DEFAULT_GRACE_SECONDS: i64 = 30;
/// The user of our images (images/rust.Dockerfile), where a pod names none.
const IMAGE_USER: i64 = 65532;

/// Where pods keep their files.
pub struct Node {
    pub folder: PathBuf,
    /// The file that every pod has as `/etc/hosts`.
    pub hosts: PathBuf,
    pub images: Images,
}

/// A pod whose container runs.
pub struct RunningPod {
    pub pod: Pod,
    container: Container,
    sandbox: Child,
    process: Pid,
    rights: Vec<String>,
}

impl RunningPod {
    /// Starts the container of a pod, whose network is there.
    ///
    /// # Errors
    ///
    /// If the manifest asks for something that is not known here, or the sandbox does not start.
    pub async fn start(node: &Node, manifests: &Manifests, pod: &Pod) -> anyhow::Result<Self> {
        let name = name_of(&pod.metadata);
        let spec = pod.spec.as_ref().context("a pod without a spec")?;
        let [container] = spec.containers.as_slice() else {
            bail!(
                "{name} has {} containers, and one is known here",
                spec.containers.len()
            );
        };
        let reference = container.image.as_deref().unwrap_or_default();
        let image = node.images.find(reference);
        let image = image.with_context(|| format!("no program for {reference}"))?;
        let env = environment(container, pod, manifests, &image)?;
        let rights = rights(spec, container);
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{name}")).arg("bwrap");
        command.args(sandbox(node, &image, name)?);
        command.args(volumes(spec, container, manifests, &node.folder, name)?);
        command.args(&rights).args(words(container, &image, &env));
        let log = File::options()
            .create(true)
            .append(true)
            .open(log_file(node, name))?;
        command
            .env_clear()
            .envs(&env)
            .env(
                "PATH",
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            )
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true);
        let mut sandbox = command.spawn()?;
        let process = within(&mut sandbox).await?;
        Ok(Self {
            pod: pod.clone(),
            container: container.clone(),
            sandbox,
            process,
            rights,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        name_of(&self.pod.metadata)
    }

    /// What is probed.
    pub fn container(&self) -> &Container {
        &self.container
    }

    /// How it ended, if it did.
    ///
    /// # Errors
    ///
    /// If the system does not say.
    pub fn ended(&mut self) -> anyhow::Result<Option<std::process::ExitStatus>> {
        Ok(self.sandbox.try_wait()?)
    }

    /// Waits until it has ended by itself.
    ///
    /// # Errors
    ///
    /// If the system does not say.
    pub async fn finished(&mut self) -> anyhow::Result<std::process::ExitStatus> {
        Ok(self.sandbox.wait().await?)
    }

    /// Runs a command beside what runs, as `kubectl exec` does.
    ///
    /// # Errors
    ///
    /// If it cannot be run.
    pub async fn exec(&self, command: &[String]) -> anyhow::Result<std::process::Output> {
        let mut exec = Command::new("nsenter");
        exec.args([
            "--target",
            &self.process.to_string(),
            "--net",
            "--mount",
            "--uts",
            "--ipc",
        ]);
        Ok(exec
            .args(&self.rights)
            .args(command)
            .kill_on_drop(true)
            .output()
            .await?)
    }

    /// Ends it as a kubelet does: what is to come before, SIGTERM, and SIGKILL after its grace. Says whether it ended by itself.
    ///
    /// # Errors
    ///
    /// If what is to come before fails, or a signal is refused.
    pub async fn terminate(mut self) -> anyhow::Result<bool> {
        let spec = self.pod.spec.as_ref();
        let grace = spec
            .and_then(|spec| spec.termination_grace_period_seconds)
            .unwrap_or(DEFAULT_GRACE_SECONDS);
        let grace = Duration::from_secs(grace.try_into()?);
        let hook = self
            .container
            .lifecycle
            .as_ref()
            .and_then(|lifecycle| lifecycle.pre_stop.clone());
        let ending = async {
            if let Some(hook) = hook {
                self.run_hook(&hook).await?;
            }
            if self.sandbox.try_wait()?.is_none() {
                kill(self.process, Signal::SIGTERM)?;
            }
            anyhow::Ok(self.sandbox.wait().await?)
        };
        match timeout(grace, ending).await {
            Ok(ended) => {
                ended?;
                Ok(true)
            }
            Err(_elapsed) => {
                kill(self.process, Signal::SIGKILL)?;
                self.sandbox.wait().await?;
                Ok(false)
            }
        }
    }

    async fn run_hook(&self, hook: &LifecycleHandler) -> anyhow::Result<()> {
        if let Some(pause) = &hook.sleep {
            sleep(Duration::from_secs(pause.seconds.try_into()?)).await;
        }
        if let Some(command) = hook.exec.as_ref().and_then(|exec| exec.command.as_ref()) {
            let output = self.exec(command).await?;
            let complaint = String::from_utf8_lossy(&output.stderr);
            anyhow::ensure!(output.status.success(), "preStop of {}: {complaint}", self.name());
        }
        Ok(())
    }

    /// Ends it as a node does that is lost.
    ///
    /// # Errors
    ///
    /// If a signal is refused.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        if self.sandbox.try_wait()?.is_none() {
            kill(self.process, Signal::SIGKILL)?;
        }
        self.sandbox.wait().await?;
        Ok(())
    }
}

fn log_file(node: &Node, pod: &str) -> PathBuf {
    node.folder.join(format!("{pod}.log"))
}

/// What a pod of this name logged.
///
/// # Errors
///
/// If it logged nothing that can be read.
pub fn logged(node: &Node, pod: &str) -> io::Result<String> {
    fs::read_to_string(log_file(node, pod))
}

/// The process that a sandbox holds; its own, where that has ended already, which whoever looks after it sees.
async fn within(sandbox: &mut Child) -> anyhow::Result<Pid> {
    let outer = sandbox.id().context("it has ended")?;
    let begun = Instant::now();
    while begun.elapsed() < SANDBOX_START {
        if let Some(child) = children(outer).unwrap_or_default().first() {
            return Ok(Pid::from_raw((*child).try_into()?));
        }
        if sandbox.try_wait()?.is_some() {
            return Ok(Pid::from_raw(outer.try_into()?));
        }
        sleep(Duration::from_millis(5)).await;
    }
    bail!("a sandbox does not start")
}

/// The files of the image, and of every container.
fn sandbox(node: &Node, image: &Image, name: &str) -> anyhow::Result<Vec<String>> {
    let mut arguments: Vec<String> = [
        "--die-with-parent",
        "--new-session",
        "--unshare-ipc",
        "--unshare-uts",
        "--hostname",
        name,
    ]
    .map(str::to_owned)
    .into();
    arguments.extend(parents("/etc/passwd"));
    for (from, at) in [
        ("/usr", "/usr"),
        ("/etc/passwd", "/etc/passwd"),
        ("/etc/group", "/etc/group"),
        ("/etc/nsswitch.conf", "/etc/nsswitch.conf"),
    ] {
        arguments.extend(["--ro-bind", from, at].map(str::to_owned));
    }
    for (to, at) in [
        ("usr/bin", "/bin"),
        ("usr/sbin", "/sbin"),
        ("usr/lib", "/lib"),
        ("usr/lib64", "/lib64"),
    ] {
        arguments.extend(["--symlink", to, at].map(str::to_owned));
    }
    arguments.extend(["--proc", "/proc", "--dev", "/dev"].map(str::to_owned));
    // Beside the system's own, in whose folder the image's programs lie.
    arguments.extend(["--tmpfs", "/usr/local/bin"].map(str::to_owned));
    let trusted = (
        node.images.authorities.clone(),
        "/etc/ssl/certs/ca-certificates.crt".to_owned(),
    );
    let hosts = (node.hosts.clone(), "/etc/hosts".to_owned());
    for (from, at) in image.files.iter().chain([&trusted, &hosts]) {
        is_there(from)?;
        arguments.extend(parents(at));
        arguments.extend(["--ro-bind".to_owned(), from.display().to_string(), at.clone()]);
    }
    Ok(arguments)
}

/// The pod's volumes, and the end of what is said of files.
fn volumes(
    spec: &PodSpec,
    container: &Container,
    manifests: &Manifests,
    node: &Path,
    pod: &str,
) -> anyhow::Result<Vec<String>> {
    let mut arguments = Vec::new();
    for (from, at, is_read_only) in mounts(spec, container, manifests, node, pod)? {
        arguments.extend(parents(&at));
        let bind = if is_read_only { "--ro-bind" } else { "--bind" };
        arguments.extend([bind.to_owned(), from.display().to_string(), at]);
    }
    let security = container.security_context.as_ref();
    if security.and_then(|security| security.read_only_root_filesystem) == Some(true) {
        arguments.extend(["--remount-ro", "/"].map(str::to_owned));
    }
    arguments.push("--".to_owned());
    Ok(arguments)
}

/// The folders above a path, for everybody to read; the sandbox makes its own for nobody else.
fn parents(path: &str) -> Vec<String> {
    let mut folders: Vec<&Path> = Path::new(path).ancestors().skip(1).collect();
    folders.pop();
    // What lies below is the system's.
    let folders = folders
        .into_iter()
        .rev()
        .filter(|folder| !folder.starts_with("/usr"));
    let make = folders.flat_map(|folder| {
        [
            "--perms".to_owned(),
            "0755".to_owned(),
            "--dir".to_owned(),
            folder.display().to_string(),
        ]
    });
    make.collect()
}

/// What takes a process's rights away, as its security contexts say.
fn rights(spec: &PodSpec, container: &Container) -> Vec<String> {
    let of_pod = spec.security_context.as_ref();
    let own = container.security_context.as_ref();
    let user = own
        .and_then(|own| own.run_as_user)
        .or(of_pod.and_then(|pod| pod.run_as_user))
        .unwrap_or(IMAGE_USER);
    let group = own
        .and_then(|own| own.run_as_group)
        .or(of_pod.and_then(|pod| pod.run_as_group))
        .unwrap_or(user);
    let files = of_pod.and_then(|pod| pod.fs_group).unwrap_or(group);
    let mut arguments = vec![
        "setpriv".to_owned(),
        format!("--reuid={user}"),
        format!("--regid={group}"),
        format!("--groups={files}"),
    ];
    let dropped = own.and_then(|own| own.capabilities.as_ref()?.drop.as_ref());
    if dropped.is_some_and(|dropped| dropped.iter().any(|capability| capability == "ALL")) {
        arguments
            .extend(["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"].map(str::to_owned));
    }
    if own.and_then(|own| own.allow_privilege_escalation) == Some(false) {
        arguments.push("--no-new-privs".to_owned());
    }
    arguments
}
