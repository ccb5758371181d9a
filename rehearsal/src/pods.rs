//! A pod's containers as processes: their command, environment, mounts, user and rights as the manifest says, in a sandbox
//! (bubblewrap) that has the files of the image and the pod's volumes, and in the pod's own network.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, bail};
use k8s_openapi::{
    api::core::v1::{Container, EnvVar, KeyToPath, LifecycleHandler, Pod, PodSpec, Volume},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};

use crate::{
    images::{Image, Images, is_there},
    manifests::{Manifests, name_of},
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
        let log = node.folder.join(format!("{name}.log"));
        let log = File::options().create(true).append(true).open(log)?;
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

/// The process that a sandbox holds; its own, where that has ended already, which whoever looks after it sees.
async fn within(sandbox: &mut Child) -> anyhow::Result<Pid> {
    let outer = sandbox.id().context("it has ended")?;
    let children = format!("/proc/{outer}/task/{outer}/children");
    let begun = Instant::now();
    while begun.elapsed() < SANDBOX_START {
        let children = fs::read_to_string(&children).unwrap_or_default();
        if let Some(child) = children.split_whitespace().next() {
            return Ok(Pid::from_raw(child.parse()?));
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

/// Command and arguments: those of the manifest, in the place of the image's.
fn words(container: &Container, image: &Image, env: &BTreeMap<String, String>) -> Vec<String> {
    let command = container.command.as_ref().filter(|command| !command.is_empty());
    let command = command.unwrap_or(&image.entry_point).iter();
    command
        .chain(container.args.iter().flatten())
        .map(|word| expanded(word, env))
        .collect()
}

/// The environment: the image's, that of maps, and the container's own, each of which may name those before.
fn environment(
    container: &Container,
    pod: &Pod,
    manifests: &Manifests,
    image: &Image,
) -> anyhow::Result<BTreeMap<String, String>> {
    let mut env: BTreeMap<String, String> = image.env.iter().cloned().collect();
    for source in container.env_from.iter().flatten() {
        let name = source
            .config_map_ref
            .as_ref()
            .map(|map| map.name.as_str())
            .context("an envFrom that is no map")?;
        let map = manifests
            .config_maps
            .get(name)
            .with_context(|| format!("there is no map {name}"))?;
        env.extend(
            map.data
                .iter()
                .flatten()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
    }
    for variable in container.env.iter().flatten() {
        let value = value_of(variable, pod, manifests, &env)?;
        env.insert(variable.name.clone(), value);
    }
    Ok(env)
}

fn value_of(
    variable: &EnvVar,
    pod: &Pod,
    manifests: &Manifests,
    env: &BTreeMap<String, String>,
) -> anyhow::Result<String> {
    let Some(source) = &variable.value_from else {
        return Ok(expanded(variable.value.as_deref().unwrap_or_default(), env));
    };
    if let Some(field) = &source.field_ref {
        let value = field_of(&pod.metadata, &field.field_path);
        return value.with_context(|| {
            format!(
                "{} names {}, which is not known here",
                variable.name, field.field_path
            )
        });
    }
    let key = source
        .secret_key_ref
        .as_ref()
        .with_context(|| format!("{} comes from nowhere known", variable.name))?;
    let secret = manifests.secret(&key.name)?;
    let value = secret
        .get(&key.key)
        .with_context(|| format!("secret {} has no {}", key.name, key.key))?;
    Ok(String::from_utf8(value.0.clone())?)
}

/// What a pod has under this path.
fn field_of(metadata: &ObjectMeta, path: &str) -> Option<String> {
    match path {
        "metadata.name" => metadata.name.clone(),
        "metadata.namespace" => metadata.namespace.clone(),
        _ => {
            let label = path.strip_prefix("metadata.labels['")?.strip_suffix("']")?;
            metadata.labels.as_ref()?.get(label).cloned()
        }
    }
}

/// `$(NAME)` is the variable of that name, where there is one.
fn expanded(text: &str, env: &BTreeMap<String, String>) -> String {
    env.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("$({name})"), value)
    })
}

/// What lies where in the container, and whether it can be written.
fn mounts(
    spec: &PodSpec,
    container: &Container,
    manifests: &Manifests,
    node: &Path,
    pod: &str,
) -> anyhow::Result<Vec<(PathBuf, String, bool)>> {
    let folder = node.join(pod);
    let group = spec.security_context.as_ref().and_then(|pod| pod.fs_group);
    let group = group.map(u32::try_from).transpose()?;
    let mut mounts = Vec::new();
    for mount in container.volume_mounts.iter().flatten() {
        let volume = spec
            .volumes
            .iter()
            .flatten()
            .find(|volume| volume.name == mount.name);
        let mut from = match volume {
            Some(volume) => volume_files(volume, manifests, node, &folder, group)?,
            // A claim of a stateful set: it outlives its pod.
            None => directory(&node.join("volumes").join(format!("{}-{pod}", mount.name)), group)?,
        };
        if let Some(path) = &mount.sub_path {
            from.push(path);
        }
        let is_kept = volume
            .is_none_or(|volume| volume.empty_dir.is_some() || volume.persistent_volume_claim.is_some());
        mounts.push((
            from,
            mount.mount_path.clone(),
            mount.read_only == Some(true) || !is_kept,
        ));
    }
    Ok(mounts)
}

/// Writes anew what the secrets of a pod hold now, as a kubelet does while it runs.
///
/// # Errors
///
/// If a secret is not there, or cannot be written.
pub fn write_secrets(node: &Node, manifests: &Manifests, pod: &Pod) -> anyhow::Result<()> {
    let Some(spec) = &pod.spec else {
        return Ok(());
    };
    let of_pod = spec.security_context.as_ref();
    let group = of_pod
        .and_then(|pod| pod.fs_group)
        .map(u32::try_from)
        .transpose()?;
    let folder = node.folder.join(name_of(&pod.metadata));
    let volumes = spec.volumes.iter().flatten();
    for volume in volumes.filter(|volume| volume.secret.is_some()) {
        volume_files(volume, manifests, &node.folder, &folder, group)?;
    }
    Ok(())
}

fn volume_files(
    volume: &Volume,
    manifests: &Manifests,
    node: &Path,
    folder: &Path,
    group: Option<u32>,
) -> anyhow::Result<PathBuf> {
    if let Some(claim) = &volume.persistent_volume_claim {
        return directory(&node.join("volumes").join(&claim.claim_name), group);
    }
    let at = directory(&folder.join(&volume.name), group)?;
    let secret = volume.secret.as_ref();
    let mode = secret
        .map_or(Some(0o644), |secret| secret.default_mode)
        .unwrap_or(0o644);
    for (name, content) in contents(volume, manifests)? {
        let file = at.join(name);
        fs::write(&file, content)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(mode.try_into()?))?;
        chown(&file, Some(0), group)?;
    }
    Ok(at)
}

/// The files that a volume begins with.
fn contents(volume: &Volume, manifests: &Manifests) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let of_map = |name: &str, items: Option<&Vec<KeyToPath>>| {
        let map = manifests
            .config_maps
            .get(name)
            .with_context(|| format!("there is no map {name}"))?;
        let data = map.data.iter().flatten();
        let data = data.map(|(key, value)| (key.clone(), value.clone().into_bytes()));
        anyhow::Ok(chosen(data, items))
    };
    if let Some(map) = &volume.config_map {
        return of_map(&map.name, map.items.as_ref());
    }
    if let Some(projected) = &volume.projected {
        let maps = projected.sources.iter().flatten().map(|source| {
            let map = source.config_map.as_ref();
            let map = map.context("a projected volume of something else than maps")?;
            of_map(&map.name, map.items.as_ref())
        });
        return Ok(maps.collect::<anyhow::Result<Vec<_>>>()?.concat());
    }
    if let Some(secret) = &volume.secret {
        let found = manifests.secret(secret.secret_name.as_deref().unwrap_or_default())?;
        let data = found.into_iter().map(|(key, value)| (key, value.0));
        return Ok(chosen(data, secret.items.as_ref()));
    }
    anyhow::ensure!(
        volume.empty_dir.is_some(),
        "volume {} is of a kind that is not known here",
        volume.name
    );
    Ok(Vec::new())
}

/// The values that are named, under their paths; all where none is.
fn chosen(
    data: impl Iterator<Item = (String, Vec<u8>)>,
    items: Option<&Vec<KeyToPath>>,
) -> Vec<(String, Vec<u8>)> {
    data.filter_map(|(key, value)| match items {
        None => Some((key, value)),
        Some(items) => {
            let item = items.iter().find(|item| item.key == key)?;
            Some((item.path.clone(), value))
        }
    })
    .collect()
}

/// A folder that the pod's group may write.
fn directory(path: &Path, group: Option<u32>) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o2775))?;
    chown(path, Some(0), group)?;
    Ok(path.to_owned())
}
