//! Model of the path from a form to its mail. Whatever the order of events, no accepted form is lost and no
//! mail is sent twice. Nothing is left of an erased person.
//!
//! [`steps`] generates steps, [`path`] runs them on real services over [`parts`], and [`process`] ends a service at any
//! await.

mod books;
mod parts;
mod path;
mod process;
mod snapshot;
mod steps;

use std::{
    env,
    io::{Write, stderr},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use path::Path;
use steps::Steps;

/// Default of `MODEL_SEQUENCES`.
const SEQUENCES: u32 = 30;
const THREADS: u32 = 2;
const STEPS: std::ops::Range<usize> = 1..16;
/// Time to look for a shorter failing sequence.
const SHRINKING: Duration = Duration::from_secs(25);

#[test]
fn any_order_of_failures_neither_loses_nor_duplicates() {
    let run = &Run::from_environment();
    let found: Vec<String> = thread::scope(|scope| {
        let threads = (0..THREADS).map(|thread| scope.spawn(move || run.thread(thread)));
        let threads: Vec<_> = threads.collect();
        let found = threads
            .into_iter()
            .map(|thread| thread.join().expect("a thread ends"));
        found.flatten().collect()
    });
    run.say_how_many();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

struct Run {
    sequences: u32,
    seed: u64,
    started: Instant,
    done: AtomicU32,
}

impl Run {
    fn from_environment() -> Self {
        let number = |name| env::var(name).ok().and_then(|value| value.parse().ok());
        Self {
            sequences: number("MODEL_SEQUENCES").map_or(SEQUENCES, |sequences: u64| {
                u32::try_from(sequences).unwrap_or(u32::MAX)
            }),
            seed: number("MODEL_SEED").unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0),
            started: Instant::now(),
            done: AtomicU32::new(0),
        }
    }

    fn say_how_many(&self) {
        let done = self.done.load(Ordering::Relaxed);
        let seconds = self.started.elapsed().as_secs();
        let said = format!("{done} sequences in {seconds} s, MODEL_SEED={}\n", self.seed);
        stderr().write_all(said.as_bytes()).expect("somebody reads it");
    }

    fn thread(&self, thread: u32) -> Option<String> {
        let config = Config {
            cases: self.sequences.div_ceil(THREADS),
            failure_persistence: None,
            max_shrink_time: u32::try_from(SHRINKING.as_millis()).unwrap_or(u32::MAX),
            ..Config::default()
        };
        let seed = self.seed.wrapping_add(thread.into());
        let seed: Vec<u8> = seed.to_le_bytes().repeat(4);
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(config.clone(), rng);
        let outcome = runner.run(&Steps::sequential_strategy(STEPS), |(state, steps, seen)| {
            Path::test_sequential(config.clone(), state, steps, seen);
            self.done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        path::drop_parts();
        match outcome {
            Ok(()) => None,
            Err(TestError::Abort(reason)) => Some(format!("The model ended: {reason}")),
            Err(TestError::Fail(reason, (_, steps, _))) => {
                let steps: Vec<String> = steps.iter().map(|step| format!("  {step:?}")).collect();
                Some(format!("The model found: {reason}\n{}", steps.join("\n")))
            }
        }
    }
}
