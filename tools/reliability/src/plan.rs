//! The rows of the table: which faults strike which stack, under which load, and what must hold.

use std::{ops::Range, time::Duration};

use fastrand::Rng;
use testkit::{Broker, Replicas, Shape};

use crate::{faults::Fault, visitors::Behaviour};

/// How often a row's fault strikes.
const STRIKES: usize = 3;
/// The load under which one fault is tried: what two busy cores bear without optimisation.
const ROW_LOAD: Behaviour = Behaviour {
    rate: 40,
    application_every: 10,
    vanish_every: None,
};
/// The short form may not take longer than a minute, of which production's ack wait would be the whole. But nobody may stand
/// still for so long.
const MIXED_ACK_WAIT: Duration = Duration::from_secs(12);
/// Where faults are mixed, those that take events share them with another.
const TWO_REPLICAS: Shape = Shape {
    replicas: Replicas::Two,
    ..Shape::USUAL
};
/// How long a soak takes.
const SOAK: Duration = Duration::from_secs(17 * 60);
/// The part of a soak in which the processes of our services stay alive, so that memory tells of a leak: what was started
/// anew a moment ago has leaked nothing yet.
pub const STEADY: Range<Duration> = Duration::from_secs(2 * 60)..Duration::from_secs(15 * 60);

/// One row.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// What the stack is made of.
    pub shape: Shape,
    /// The faults that may strike.
    pub faults: Vec<Fault>,
    /// How often they do.
    pub strikes: Strikes,
    /// The load.
    pub behaviour: Behaviour,
    /// How many submissions must be accepted.
    pub min_accepted: usize,
    /// Another ack wait than production's minute: then the books are balanced sooner.
    pub ack_wait: Option<Duration>,
}

/// How often faults strike.
#[derive(Debug, Clone, Copy)]
pub enum Strikes {
    /// Each of them so often, in turns.
    Each(usize),
    /// One of them, by chance, again and again for so long.
    For(Duration),
    /// The same for as long as a soak takes, and in its [`STEADY`] part only those that spare the processes of our services.
    Soak,
}

impl Plan {
    /// Every row: one for each fault, and those that run by name only.
    pub fn all() -> Vec<Self> {
        let rows = Fault::all().into_iter().map(Self::of_fault);
        let named = [
            Self::of_fault(Fault::OtherRelease),
            Self::mixed(),
            Self::soak(),
            Self::soak_of_three(),
        ];
        rows.chain(named).collect()
    }

    fn of_fault(fault: Fault) -> Self {
        // An await that a broker or the store makes long is where a caller who leaves does harm.
        let vanish_every = match fault {
            Fault::VisitorsVanish => Some(2),
            Fault::Broker(_) | Fault::Cluster(_) | Fault::Store(_) => Some(3),
            _ => None,
        };
        Self {
            name: fault.to_string(),
            shape: fault.shape(),
            faults: vec![fault],
            strikes: Strikes::Each(if fault.is_long() { 1 } else { STRIKES }),
            behaviour: Behaviour {
                vanish_every,
                ..ROW_LOAD
            },
            min_accepted: 0,
            ack_wait: None,
        }
    }

    /// The short form, a part of the test suite: faults of every kind, for half a minute.
    pub fn mixed() -> Self {
        Self {
            name: "mixed".to_owned(),
            shape: TWO_REPLICAS,
            faults: faults_of(Broker::One),
            strikes: Strikes::For(Duration::from_secs(30)),
            behaviour: Behaviour {
                vanish_every: Some(5),
                ..ROW_LOAD
            },
            min_accepted: 0,
            ack_wait: Some(MIXED_ACK_WAIT),
        }
    }

    /// Faults of every kind for a good quarter of an hour, on one broker.
    fn soak() -> Self {
        Self {
            name: "soak".to_owned(),
            shape: TWO_REPLICAS,
            faults: faults_of(Broker::One),
            strikes: Strikes::Soak,
            behaviour: Behaviour {
                rate: 135,
                application_every: 50,
                vanish_every: Some(20),
            },
            min_accepted: 100_000,
            ack_wait: None,
        }
    }

    /// The same on three, with every write on their disks before it is acknowledged.
    fn soak_of_three() -> Self {
        Self {
            name: "cluster-soak".to_owned(),
            shape: Shape {
                broker: Broker::Three,
                ..TWO_REPLICAS
            },
            faults: faults_of(Broker::Three),
            behaviour: Behaviour {
                rate: 30,
                application_every: 10,
                ..Self::soak().behaviour
            },
            min_accepted: 20_000,
            ..Self::soak()
        }
    }

    /// Whether this word names it, or is a part of its name. A soak takes a quarter of an hour: it is named in full only.
    pub fn is_named_by(&self, word: &str) -> bool {
        match self.strikes {
            Strikes::Soak => self.name == word,
            Strikes::Each(_) | Strikes::For(_) => self.name.contains(word),
        }
    }

    /// The fault that strikes after so many, and so long after the first, or none any more.
    pub fn next_fault(&self, struck: usize, elapsed: Duration, rng: &mut Rng) -> Option<Fault> {
        let may_strike = |fault: &&Fault| match self.strikes {
            Strikes::Each(times) => struck < times * self.faults.len(),
            Strikes::For(time) => elapsed < time,
            Strikes::Soak => elapsed < SOAK && (fault.spares_services() || !STEADY.contains(&elapsed)),
        };
        let mut faults = self.faults.iter().filter(may_strike);
        match self.strikes {
            Strikes::Each(_) => faults.nth(struck % self.faults.len()).copied(),
            Strikes::For(_) | Strikes::Soak => rng.choice(faults.collect::<Vec<_>>()).copied(),
        }
    }

    /// Whether it runs where no row is named: those that take longer, or need another release, run by name.
    pub fn is_usual(&self) -> bool {
        matches!(self.strikes, Strikes::Each(_)) && !self.faults.contains(&Fault::OtherRelease)
    }
}

/// Every fault that can strike again and again where the broker is such: those that need nothing special, and its own.
fn faults_of(broker: Broker) -> Vec<Fault> {
    let its_own = Shape {
        broker,
        ..Shape::default()
    };
    let mut faults = Fault::all();
    faults.retain(|fault| {
        [Shape::default(), its_own].contains(&fault.shape()) && *fault != Fault::Nothing && !fault.is_long()
    });
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        faults::{AWAY_MS, ClusterFault},
        repeats::MAX_UNRECORDED,
    };

    fn minutes(minutes: u64) -> Duration {
        Duration::from_secs(minutes * 60)
    }

    #[test]
    fn nobody_stands_still_for_as_long_as_the_short_forms_ack_wait() {
        // A notifier that stops had reported its progress a quarter of the ack wait ago at the earliest.
        let left = MIXED_ACK_WAIT - MIXED_ACK_WAIT / 4;
        assert!(Duration::from_millis(AWAY_MS.end) + MAX_UNRECORDED <= left);
    }

    #[test]
    fn a_soak_is_named_in_full_only() {
        let named = |word: &str| {
            let plans = Plan::all().into_iter().filter(|plan| plan.is_named_by(word));
            plans.map(|plan| plan.name).collect::<Vec<_>>()
        };
        let of_three = ClusterFault::ALL.map(|fault| Fault::Cluster(fault).to_string());
        assert_eq!(named("cluster"), of_three);
        assert_eq!(named("cluster-"), of_three);
        assert_eq!(named("soak"), ["soak"]);
        assert_eq!(named("cluster-soak"), ["cluster-soak"]);
    }

    /// Which of 1,000 choices kill or stop a service at this moment of a soak.
    fn that_end_processes(elapsed: Duration) -> usize {
        let mut rng = Rng::with_seed(1);
        let chosen = (0..1_000).filter_map(|struck| Plan::soak().next_fault(struck, elapsed, &mut rng));
        chosen.filter(|fault| !fault.spares_services()).count()
    }

    #[test]
    fn a_soak_leaves_processes_alive_while_their_memory_is_compared() {
        for (elapsed, ends_processes) in [
            (minutes(0), true),
            (minutes(2), false),
            (minutes(14), false),
            (minutes(15), true),
            (minutes(16), true),
        ] {
            assert_eq!(that_end_processes(elapsed) > 0, ends_processes, "{elapsed:?}");
        }
        let after = Plan::soak().next_fault(9, minutes(17), &mut Rng::new());
        assert_eq!(after, None);
    }

    #[test]
    fn each_fault_of_a_row_strikes_so_often_in_turns() {
        let faults = [Fault::Nothing, Fault::VisitorsVanish];
        let plan = Plan {
            faults: faults.into(),
            strikes: Strikes::Each(2),
            ..Plan::mixed()
        };
        let struck = |struck| plan.next_fault(struck, minutes(60), &mut Rng::new());
        let strikes: Vec<_> = (0..5).map(struck).collect();
        let [first, second] = faults.map(Some);
        assert_eq!(strikes, [first, second, first, second, None]);
    }
}
