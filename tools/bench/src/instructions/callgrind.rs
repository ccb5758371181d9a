//! The program of `tools/bench/instructions` under callgrind, and what that counted.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, bail};
use testkit::{ChildProcess, eventually, root};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    process::Command,
    time::sleep,
};

use super::figures::Cost;

/// Built by `cargo xtask bench instructions`, in a profile of its own.
const PROGRAM: &str = "target/guard/examples/instructions";
/// The function of the program in which it is counted.
const WINDOW: &str = "instructions::window::counted_window";
const FOLDER: &str = "target/bench/instructions";
/// What Rust calls for memory. Whatever stands before these in a name differs with the compiler.
const ALLOCATORS: [&str; 3] = ["__rust_alloc", "__rust_alloc_zeroed", "__rust_realloc"];
/// How long the program may take to start, or to end: fifty times as long as without callgrind, beside other work.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long what follows an answer may take, such as writing its log line: so all of it is counted, and never two of it together.
const AFTERMATH: Duration = Duration::from_millis(15);

/// What was counted in the whole window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    instructions: u64,
    allocations: u64,
}

impl Count {
    /// The share of one of so many.
    pub fn per(&self, units: u32) -> Cost {
        let of_one = |all: u64| (all as f64 / f64::from(units)).round() as u64;
        Cost {
            instructions: of_one(self.instructions),
            allocations: of_one(self.allocations),
        }
    }
}

/// How much work is sent: some to warm up, then some in each window.
#[derive(Clone, Copy)]
pub struct Work {
    pub warm_up: u32,
    pub windows: u32,
    /// For less than a second, so that some windows have nothing in them that is done once a second.
    pub in_each: u32,
}

/// Has a program work through what `send` sends to its address, each time with another number. Gives the least of all windows:
/// what else happens, such as a probe of the broker, can only add to it.
///
/// # Errors
///
/// If the program does not start, or work is refused.
pub async fn count_site(
    path: &str,
    flags: &[String],
    work: Work,
    send: impl AsyncFn(&str, u32) -> anyhow::Result<()>,
) -> anyhow::Result<Count> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let own = [path.to_owned(), listener.local_addr()?.to_string()];
    let mut run = Run::start(path, &[&own, flags].concat())?;
    let (mut program, port) = run.connected(&listener).await?;
    let site = format!("http://127.0.0.1:{port}");
    let mut numbers = 0..;
    let mut send_some = async |count: u32| {
        for number in numbers.by_ref().take(count as usize) {
            send(&site, number).await?;
            sleep(AFTERMATH).await;
        }
        anyhow::Ok(())
    };
    send_some(work.warm_up).await?;
    program.write_u8(0).await?;
    for _ in 0..work.windows {
        program.read_u8().await.context("the program ended")?;
        send_some(work.in_each).await?;
        program.write_u8(0).await?;
    }
    drop(program);
    run.least_of(work.windows).await
}

/// Has a program work by itself.
///
/// # Errors
///
/// If the program does not start, or fails.
pub async fn count_alone(path: &str, arguments: &[String]) -> anyhow::Result<Count> {
    let own = [path.to_owned()];
    Run::start(path, &[&own, arguments].concat())?.least_of(1).await
}

/// The running program.
struct Run {
    process: ChildProcess,
    counts: PathBuf,
}

impl Run {
    fn start(path: &str, arguments: &[String]) -> anyhow::Result<Self> {
        let folder = root().join(FOLDER);
        // What a former run left would be read instead.
        for file in files_of(&folder, path) {
            fs::remove_file(file)?;
        }
        fs::create_dir_all(&folder)?;
        let counts = folder.join(format!("{path}.callgrind"));
        // On one processor, and none is woken while another runs: so it is always the same thread that waits for another.
        let mut command = Command::new("taskset");
        command
            .args(["--cpu-list", &first_processor()?])
            .args(["chrt", "--batch", "0", "valgrind", "--fair-sched=yes"])
            .args(["--tool=callgrind", "--compress-strings=no", "--compress-pos=no"])
            .arg(format!("--zero-before={WINDOW}"))
            .arg(format!("--dump-after={WINDOW}"))
            .arg(format!("--callgrind-out-file={}", counts.display()))
            .arg(root().join(PROGRAM))
            .args(arguments)
            .current_dir(root())
            // Services read settings from variables, too.
            .env_clear()
            .envs(env::var_os("PATH").map(|path| ("PATH", path)));
        let process = ChildProcess::start(path, &folder, command)?;
        Ok(Self { process, counts })
    }

    /// The connection of the program, and the port at which it takes work.
    async fn connected(&mut self, listener: &TcpListener) -> anyhow::Result<(TcpStream, u16)> {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            ended = eventually("the program starts", PATIENCE, async || self.process.ended()) => bail!(ended?),
        };
        let (mut program, _) = accepted?;
        program.set_nodelay(true)?;
        let port = program.read_u16().await?;
        Ok((program, port))
    }

    /// The least of its windows, once it has ended.
    async fn least_of(mut self, windows: u32) -> anyhow::Result<Count> {
        let told = eventually("the program ends", PATIENCE, async || self.process.ended()).await?;
        let counts: Vec<Count> = (1..=windows)
            .map(|window| {
                let file = self.counts.with_extension(format!("callgrind.{window}"));
                let text =
                    fs::read_to_string(&file).with_context(|| format!("nothing was counted: {told}"))?;
                read(&text).with_context(|| format!("{} is not as callgrind writes it", file.display()))
            })
            .collect::<anyhow::Result<_>>()?;
        least(&counts).context("nothing was counted")
    }
}

fn least(counts: &[Count]) -> Option<Count> {
    Some(Count {
        instructions: counts.iter().map(|count| count.instructions).min()?,
        allocations: counts.iter().map(|count| count.allocations).min()?,
    })
}

fn first_processor() -> anyhow::Result<String> {
    let status = fs::read_to_string("/proc/self/status")?;
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = allowed.and_then(|list| list.trim().split([',', '-']).next());
    Ok(first.context("no processor is allowed")?.to_owned())
}

fn files_of(folder: &Path, path: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let is_of_path = |file: &PathBuf| file.file_prefix().is_some_and(|name| name == path);
    files.filter(is_of_path).collect()
}

/// What callgrind wrote: `summary: <instructions>`, and for each place that calls another function `cfn=<name>` and
/// `calls=<count> <position>` (<https://valgrind.org/docs/manual/cl-format.html>).
fn read(text: &str) -> Option<Count> {
    let mut instructions = None;
    let mut allocations = 0;
    let mut is_allocator = false;
    for line in text.lines() {
        if let Some(total) = line.strip_prefix("summary: ") {
            instructions = total.trim().parse().ok();
        } else if let Some(name) = line.strip_prefix("cfn=") {
            is_allocator = ALLOCATORS.iter().any(|allocator| name.ends_with(allocator));
        } else if let Some(calls) = line.strip_prefix("calls=").filter(|_| is_allocator) {
            let count = calls.split_whitespace().next()?;
            allocations += count.parse::<u64>().ok()?;
        }
    }
    Some(Count {
        instructions: instructions?,
        allocations,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "\
version: 1
creator: callgrind-3.19.0
desc: Trigger: --dump-after=instructions::window::counted_window
positions: line
events: Ir
summary: 1000400

fn=notifier::mail::message::Mail::into_message
0 210
cfn=__rustc::__rust_alloc
calls=12 0
0 4800
cfn=memcpy
calls=7 0
0 90
cfn=_RNvCs6sKbPEKyz1g_7___rustc14___rust_realloc
calls=3 0
0 600
cfn=__rustc::__rust_dealloc
calls=11 0
0 600
";

    #[test]
    fn instructions_are_the_sum_and_allocations_the_calls_of_the_allocator() {
        let count = read(WRITTEN).expect("a count");
        assert_eq!(
            count,
            Count {
                instructions: 1_000_400,
                allocations: 15
            }
        );
        let cost = count.per(4);
        assert_eq!((cost.instructions, cost.allocations), (250_100, 4));
    }

    #[test]
    fn the_least_of_all_windows_counts() {
        let counts = [(300, 20), (200, 21), (250, 20)].map(|(instructions, allocations)| Count {
            instructions,
            allocations,
        });
        let least = least(&counts).map(|count| (count.instructions, count.allocations));
        assert_eq!(least, Some((200, 20)));
    }

    #[test]
    fn what_is_cut_off_before_its_sum_is_no_count() {
        assert_eq!(read("version: 1\nevents: Ir\n"), None);
    }
}
