//! The rows of the table: which faults strike which stack, under which load, and what must hold.

use std::time::Duration;

use testkit::{Broker, Shape};

use crate::{faults::Fault, visitors::Behaviour};

/// How often a row's fault strikes.
const STRIKES: usize = 3;
/// The load under which one fault is tried: what two busy cores bear without optimisation.
const ROW_LOAD: Behaviour = Behaviour {
    rate: 40,
    application_every: 10,
    vanish_every: None,
};
/// How long a soak takes.
const SOAK: Duration = Duration::from_secs(15 * 60);

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
}

/// How often faults strike.
#[derive(Debug, Clone, Copy)]
pub enum Strikes {
    /// Each of them so often, in turns.
    Each(usize),
    /// One of them, by chance, again and again for so long.
    For(Duration),
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
        // An await that a broker makes long is where a caller who leaves does harm.
        let vanish_every = match fault {
            Fault::VisitorsVanish => Some(2),
            Fault::Broker(_) => Some(3),
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
        }
    }

    /// The short form, a part of the test suite: faults of every kind, for half a minute.
    pub fn mixed() -> Self {
        Self {
            name: "mixed".to_owned(),
            shape: Shape::default(),
            faults: faults_of(Shape::default()),
            strikes: Strikes::For(Duration::from_secs(30)),
            behaviour: Behaviour {
                vanish_every: Some(5),
                ..ROW_LOAD
            },
            min_accepted: 0,
        }
    }

    /// Faults of every kind for a quarter of an hour, on one broker.
    fn soak() -> Self {
        Self {
            name: "soak".to_owned(),
            shape: Shape::default(),
            faults: faults_of(Shape::default()),
            strikes: Strikes::For(SOAK),
            behaviour: Behaviour {
                rate: 135,
                application_every: 50,
                vanish_every: Some(20),
            },
            min_accepted: 100_000,
        }
    }

    /// The same on three, with every write on their disks before it is acknowledged.
    fn soak_of_three() -> Self {
        let three = Shape {
            broker: Broker::Three,
            ..Shape::default()
        };
        Self {
            name: "cluster-soak".to_owned(),
            shape: three,
            faults: faults_of(three),
            behaviour: Behaviour {
                rate: 30,
                ..Self::soak().behaviour
            },
            min_accepted: 20_000,
            ..Self::soak()
        }
    }

    /// Whether it runs where no row is named: those that take longer, or need another release, run by name.
    pub fn is_usual(&self) -> bool {
        matches!(self.strikes, Strikes::Each(_)) && !self.faults.contains(&Fault::OtherRelease)
    }
}

/// Every fault that can strike such a stack again and again: those that need nothing special, and its own.
fn faults_of(shape: Shape) -> Vec<Fault> {
    let mut faults = Fault::all();
    faults.retain(|fault| {
        [Shape::default(), shape].contains(&fault.shape()) && *fault != Fault::Nothing && !fault.is_long()
    });
    faults
}
