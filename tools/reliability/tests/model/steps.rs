//! What can happen, in any order.

use proptest::{prelude::*, strategy::BoxedStrategy};
use proptest_state_machine::ReferenceStateMachine;
use site_events::Channel;

pub const PEOPLE: usize = 2;
const KEYS: u8 = 2;
const TEXTS: u8 = 2;
/// Most operations have fewer awaits than `FEW_POLLS`; none has more than `MAX_POLLS`.
const FEW_POLLS: u8 = 8;
const MAX_POLLS: u8 = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    Contact,
    SignUp,
    Application,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Submission {
    pub form: Form,
    pub person: usize,
    pub key: u8,
    pub text: u8,
}

/// Fate of an operation and its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Completes.
    Ends,
    /// Completes; then the process dies.
    EndsAndDies,
    /// The process dies at an await.
    Dies(Cut),
    /// The caller leaves at an await.
    CallerLeaves(Cut),
}

/// Await at which an operation is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Polls before the interruption.
    pub polls: u8,
    /// Whether the awaited answer arrives. The operation never sees it.
    pub is_answered: bool,
}

/// Reply to the next mail to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    NoSuchAddress,
    Later,
    HangsUp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    Contact,
    Newsletter,
    Careers,
    Notifier,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Submit(Submission, Fate),
    Confirm(usize, Fate),
    Unsubscribe(usize, Fate),
    /// The next event of a channel, for the first time or again.
    Deliver(usize, Fate),
    DeliverAll,
    /// A bounce reaches the newsletter service.
    Suppress(Fate),
    /// Sets the reply to the next mail to this person.
    MailServer(usize, Reply),
    Erase(usize),
    ReplayDeadLetters,
    Sweep,
    Restart(Service),
}

/// Generates steps without a model's state: the real services decide what follows.
pub struct Steps;

impl ReferenceStateMachine for Steps {
    type State = ();
    type Transition = Step;

    fn init_state() -> BoxedStrategy<()> {
        Just(()).boxed()
    }

    fn transitions((): &()) -> BoxedStrategy<Step> {
        let person = || 0..PEOPLE;
        prop_oneof![
            8 => (submission(), any_fate()).prop_map(|(submission, fate)| Step::Submit(submission, fate)),
            2 => (person(), any_fate()).prop_map(|(person, fate)| Step::Confirm(person, fate)),
            2 => (person(), any_fate()).prop_map(|(person, fate)| Step::Unsubscribe(person, fate)),
            5 => (0..Channel::ALL.len(), fate()).prop_map(|(channel, fate)| Step::Deliver(channel, fate)),
            3 => Just(Step::DeliverAll),
            1 => fate().prop_map(Step::Suppress),
            2 => (person(), reply()).prop_map(|(person, reply)| Step::MailServer(person, reply)),
            1 => person().prop_map(Step::Erase),
            1 => Just(Step::ReplayDeadLetters),
            1 => Just(Step::Sweep),
            1 => service().prop_map(Step::Restart),
        ]
        .boxed()
    }

    fn apply((): (), _: &Step) {}
}

fn submission() -> impl Strategy<Value = Submission> {
    let form = prop_oneof![
        1 => Just(Form::Contact),
        1 => Just(Form::SignUp),
        2 => Just(Form::Application),
    ];
    // Mostly one person, to provoke duplicates.
    let person = prop_oneof![3 => Just(0), 1 => 0..PEOPLE];
    (form, person, 0..KEYS, 0..TEXTS).prop_map(|(form, person, key, text)| Submission {
        form,
        person,
        key,
        text,
    })
}

/// Fates of an operation without a caller.
fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        5 => Just(Fate::Ends),
        1 => Just(Fate::EndsAndDies),
        2 => cut().prop_map(Fate::Dies),
    ]
}

/// Fates of an operation with a caller.
fn any_fate() -> impl Strategy<Value = Fate> {
    prop_oneof![2 => fate(), 1 => cut().prop_map(Fate::CallerLeaves)]
}

fn cut() -> impl Strategy<Value = Cut> {
    let polls = prop_oneof![3 => 1..FEW_POLLS, 1 => FEW_POLLS..MAX_POLLS];
    (polls, any::<bool>()).prop_map(|(polls, is_answered)| Cut { polls, is_answered })
}

fn reply() -> impl Strategy<Value = Reply> {
    prop::sample::select(vec![Reply::NoSuchAddress, Reply::Later, Reply::HangsUp])
}

fn service() -> impl Strategy<Value = Service> {
    use Service::{Careers, Contact, Newsletter, Notifier};
    prop::sample::select(vec![Contact, Newsletter, Careers, Notifier, Notifier, Notifier])
}
