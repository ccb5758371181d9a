//! What can happen, in any order.

use proptest::{prelude::*, strategy::BoxedStrategy};
use proptest_state_machine::ReferenceStateMachine;
use site_events::Channel;

/// How many people a sequence is about, and how many idempotency keys and texts they use for each form.
pub const PEOPLE: usize = 2;
const KEYS: u8 = 2;
const TEXTS: u8 = 2;
/// Most operations have fewer awaits, and none more than the last.
const FEW_POLLS: u8 = 8;
const MAX_POLLS: u8 = 24;

/// A form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    Contact,
    SignUp,
    Application,
}

/// A form as somebody sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Submission {
    pub form: Form,
    pub person: usize,
    pub key: u8,
    pub text: u8,
}

/// What becomes of an operation, and of the process that does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It ends, and the process lives on.
    Ends,
    /// It ends, and the process dies at once.
    EndsAndDies,
    /// The process dies at an await.
    Dies(Cut),
    /// Its caller goes away at an await; the process lives on.
    CallerLeaves(Cut),
}

/// At which of its awaits an operation is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// How often it is polled.
    pub polls: u8,
    /// Whether what it waits for comes; it does not hear of it.
    pub is_answered: bool,
}

/// What a mail server says of the next mail to somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    NoSuchAddress,
    Later,
    HangsUp,
}

/// The services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    Contact,
    Newsletter,
    Careers,
    Notifier,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Submit(Submission, Fate),
    Confirm(usize, Fate),
    Unsubscribe(usize, Fate),
    /// The next event of a channel is delivered, for the first time or again.
    Deliver(usize, Fate),
    /// All that waits is delivered.
    DeliverAll,
    /// The newsletter service hears of a bounce.
    Suppress(Fate),
    /// The mail server has this to say of the next mail to this person.
    MailServer(usize, Reply),
    Erase(usize),
    ReplayDeadLetters,
    Sweep,
    Restart(Service),
}

/// Generates steps. What they lead to, the real services decide.
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
    // Mostly one person's: repetitions are what is looked for.
    let person = prop_oneof![3 => Just(0), 1 => 0..PEOPLE];
    (form, person, 0..KEYS, 0..TEXTS).prop_map(|(form, person, key, text)| Submission {
        form,
        person,
        key,
        text,
    })
}

/// Of what nobody waits for.
fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        5 => Just(Fate::Ends),
        1 => Just(Fate::EndsAndDies),
        2 => cut().prop_map(Fate::Dies),
    ]
}

/// Of what a caller waits for.
fn any_fate() -> impl Strategy<Value = Fate> {
    prop_oneof![2 => fate(), 1 => cut().prop_map(Fate::CallerLeaves)]
}

fn cut() -> impl Strategy<Value = Cut> {
    let polls = prop_oneof![3 => 1..FEW_POLLS, 1 => FEW_POLLS..MAX_POLLS];
    (polls, any::<bool>()).prop_map(|(polls, is_answered)| Cut { polls, is_answered })
}

fn reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        Just(Reply::NoSuchAddress),
        Just(Reply::Later),
        Just(Reply::HangsUp)
    ]
}

fn service() -> impl Strategy<Value = Service> {
    prop_oneof![
        1 => Just(Service::Contact),
        1 => Just(Service::Newsletter),
        1 => Just(Service::Careers),
        3 => Just(Service::Notifier),
    ]
}
