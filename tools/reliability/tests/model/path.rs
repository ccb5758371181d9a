//! Runs each step on the real services, and reconciles after it.

use std::{cell::RefCell, fs, panic::resume_unwind, sync::Arc, time::Duration};

use anyhow::{Context, bail, ensure};
use async_nats::jetstream::{AckKind, Message};
use futures_util::{FutureExt, future::try_join_all};
use proptest_state_machine::StateMachineTest;
use site_events::{Channel, DEAD_LETTERS_STREAM, EventType, SUPPRESSION_CONSUMER, subjects};
use site_proto::{
    careers::v1::{
        ApplicationForm, ApplyRequest, Commit, ResumeStart, apply_request::Part,
        careers_service_client::CareersServiceClient,
    },
    contact::v1::{ContactForm, SubmitRequest, contact_service_client::ContactServiceClient},
    newsletter::v1::{
        ConfirmRequest, NewsletterForm, SubscribeRequest, UnsubscribeRequest,
        newsletter_service_client::NewsletterServiceClient,
    },
};
use site_service::idempotency::{IdempotencyKey, KeyBinding};
use sitectl::{Mode, broker, replay_letters, sweep};
use time::OffsetDateTime;
use tokio::time::timeout;
use tonic::{Code, Status};
use visitor::token::{Purpose, TokenKey};

use crate::{
    books::{Books, Promise},
    parts::{Parts, TOKEN_KEY},
    process::{Api, Process},
    snapshot::{self, Snapshot},
    steps::{Fate, Form, PEOPLE, Service, Step, Steps, Submission},
};

type NewsletterClient = NewsletterServiceClient<Api>;

const ANSWERED_WITHIN: Duration = Duration::from_secs(20);
/// More rounds than any retry needs.
const MAX_ROUNDS: usize = 2_000;

thread_local! {
    /// Servers are kept between sequences, to save their start.
    static PARTS: RefCell<Option<(Parts, IsClean)>> = const { RefCell::new(None) };
}

pub fn drop_parts() {
    PARTS.take();
}

/// Whether the last sequence left nothing stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IsClean {
    Yes,
    No,
}

pub struct Sequence {
    parts: Option<Parts>,
    is_clean: IsClean,
    books: Books,
    before: Snapshot,
}

impl Drop for Sequence {
    fn drop(&mut self) {
        let parts = self.parts.take();
        PARTS.replace(parts.map(|parts| (parts, self.is_clean)));
    }
}

pub struct Path;

impl StateMachineTest for Path {
    type SystemUnderTest = Sequence;
    type Reference = Steps;

    fn init_test((): &()) -> Sequence {
        or_fail(Sequence::begin())
    }

    fn apply(mut sequence: Sequence, (): &(), step: Step) -> Sequence {
        or_fail(sequence.take(&step).with_context(|| format!("after {step:?}")));
        sequence
    }

    fn teardown(mut sequence: Sequence, (): ()) {
        or_fail(sequence.end().context("at the end"));
    }
}

/// Fails without a panic message.
fn or_fail<T>(outcome: anyhow::Result<T>) -> T {
    outcome.unwrap_or_else(|error| resume_unwind(Box::new(format!("{error:#}"))))
}

impl Sequence {
    fn begin() -> anyhow::Result<Self> {
        let parts = match PARTS.take() {
            Some((parts, IsClean::Yes)) => parts,
            Some((mut parts, IsClean::No)) => {
                parts.kill_all();
                let runtime = parts.runtime.clone();
                let cleared = runtime.block_on(async { timeout(ANSWERED_WITHIN, parts.clear()).await });
                cleared.context("the parts cannot be cleared")??;
                parts
            }
            None => Parts::start()?,
        };
        parts.take_all_mails();
        Ok(Self {
            parts: Some(parts),
            is_clean: IsClean::No,
            books: Books::new()?,
            before: Snapshot::default(),
        })
    }

    fn parts(&mut self) -> &mut Parts {
        self.parts.as_mut().expect("they are given back at the end only")
    }

    fn wait<T>(&mut self, ask: impl AsyncFnOnce(&mut Parts) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let parts = self.parts();
        let runtime = Arc::clone(&parts.runtime);
        let asked = runtime.block_on(async { timeout(ANSWERED_WITHIN, ask(parts)).await });
        asked.context("a part does not answer")?
    }

    fn take(&mut self, step: &Step) -> anyhow::Result<()> {
        match *step {
            Step::Submit(submission, fate) => self.submit(submission, fate)?,
            Step::Confirm(person, fate) => self.confirm(person, fate)?,
            Step::Unsubscribe(person, fate) => self.unsubscribe(person, fate)?,
            Step::Deliver(channel, fate) => drop(self.deliver(Channel::ALL[channel], fate)?),
            Step::DeliverAll => drop(self.deliver_each()?),
            Step::Suppress(fate) => drop(self.suppress(fate)?),
            Step::MailServer(person, reply) => {
                let email = self.books.people[person].email.clone();
                self.parts().reply_next(&email, reply);
            }
            Step::Erase(person) => self.erase(person)?,
            Step::ReplayDeadLetters => self.replay_dead_letters()?,
            Step::Sweep => self.sweep()?,
            Step::Restart(service) => self.restart(service)?,
        }
        ensure!(self.parts().mail.take_accepted().is_empty(), "an unexpected mail");
        self.balance()
    }

    fn balance(&mut self) -> anyhow::Result<()> {
        let after = self.wait(async |parts| Snapshot::read(&parts.client, &parts.s3).await)?;
        self.books.balance(&self.before, &after)?;
        self.before = after;
        Ok(())
    }

    fn submit(&mut self, submission: Submission, fate: Fate) -> anyhow::Result<()> {
        let answer = match submission.form {
            Form::Contact => self.send_message(submission, fate)?,
            Form::SignUp => self.sign_up(submission, fate)?,
            Form::Application => self.apply_for(submission, fate)?,
        };
        let id = self.books.event_id(submission)?;
        self.books.people[submission.person].is_erased = false;
        let was_tried = self.books.tried.contains_key(&id);
        self.books.tried.entry(id.clone()).or_default().insert(submission);
        match answer {
            None => {}
            Some(Ok(())) => {
                let promise = match submission.form {
                    Form::SignUp => Promise::SignUp(submission.person),
                    Form::Contact | Form::Application => Promise::Event(id, submission),
                };
                self.books.promises.push(promise);
            }
            Some(Err(status)) if status.code() == Code::AlreadyExists => {
                // An erased event has no content to compare.
                let key = IdempotencyKey::Given(self.books.key(submission));
                let is_bound = self.before.event(&id).is_some() && key.binding() == KeyBinding::Content;
                let is_of_content = submission.form != Form::SignUp;
                ensure!(
                    is_of_content && was_tried && !is_bound && !self.is_repeated(&id, submission),
                    "a retry was refused: {status}"
                );
            }
            Some(Err(status)) => bail!("refused, although nothing is wrong: {status}"),
        }
        Ok(())
    }

    /// Whether the submission is stored as the latest of its kind and person.
    fn is_repeated(&self, id: &str, submission: Submission) -> bool {
        let event_type = match submission.form {
            Form::Contact => EventType::ContactReceived,
            Form::SignUp => EventType::NewsletterRequested,
            Form::Application => EventType::CareersApplied,
        };
        let person = &self.books.people[submission.person].id;
        let last = self.before.last(event_type, person.as_str());
        last.is_some_and(|last| last.id() == id && self.books.holds(last, submission))
    }

    fn send_message(&mut self, submission: Submission, fate: Fate) -> anyhow::Result<Answer> {
        let form = ContactForm {
            name: "Zoë".to_owned(),
            email: self.books.people[submission.person].email.clone(),
            message: self.books.text(submission),
            ..ContactForm::default()
        };
        let request = SubmitRequest {
            form: Some(form),
            idempotency_key: self.books.key(submission).to_string(),
            ..SubmitRequest::default()
        };
        let call =
            |api| async move { ContactServiceClient::new(api).submit(request).await.map(drop) }.boxed();
        let answer = self.parts().contact.call(fate, contact::Service::routes, call)?;
        self.end_of_process(fate, |parts| parts.contact.kill())?;
        Ok(answer)
    }

    fn call_newsletter<Fut>(
        &mut self,
        fate: Fate,
        call: impl FnOnce(NewsletterClient) -> Fut,
    ) -> anyhow::Result<Answer>
    where
        Fut: Future<Output = Result<(), Status>> + Send + 'static,
    {
        let call = |api| call(NewsletterServiceClient::new(api)).boxed();
        let answer = self
            .parts()
            .newsletter
            .call(fate, newsletter::Service::routes, call)?;
        self.end_of_process(fate, |parts| parts.newsletter.kill())?;
        Ok(answer)
    }

    fn sign_up(&mut self, submission: Submission, fate: Fate) -> anyhow::Result<Answer> {
        let form = NewsletterForm {
            email: self.books.people[submission.person].email.clone(),
            ..NewsletterForm::default()
        };
        let request = SubscribeRequest {
            form: Some(form),
            idempotency_key: self.books.key(submission).to_string(),
        };
        let call =
            |mut newsletter: NewsletterClient| async move { newsletter.subscribe(request).await.map(drop) };
        self.call_newsletter(fate, call)
    }

    fn apply_for(&mut self, submission: Submission, fate: Fate) -> anyhow::Result<Answer> {
        let text = self.books.text(submission);
        let form = ApplicationForm {
            name: "Zoë".to_owned(),
            email: self.books.people[submission.person].email.clone(),
            position: "Engineer".to_owned(),
            cover_letter: text.clone(),
            ..ApplicationForm::default()
        };
        let parts = [
            Part::ResumeStart(ResumeStart {
                file_name: "cv.pdf".to_owned(),
            }),
            Part::ResumeChunk(self.books.resume(&text).into()),
            Part::Commit(Commit {
                form: Some(form),
                idempotency_key: self.books.key(submission).to_string(),
            }),
        ];
        let parts = parts.map(|part| ApplyRequest { part: Some(part) });
        let call = |api| {
            let parts = futures_util::stream::iter(parts);
            async move { CareersServiceClient::new(api).apply(parts).await.map(drop) }.boxed()
        };
        let answer = self.parts().careers.call(fate, careers::Service::routes, call)?;
        self.end_of_process(fate, |parts| parts.careers.kill())?;
        Ok(answer)
    }

    fn confirm(&mut self, person: usize, fate: Fate) -> anyhow::Result<()> {
        if !self.books.people[person].has_confirmation_link {
            return Ok(());
        }
        let token = self.token(person, Purpose::Confirm)?;
        let request = ConfirmRequest { token };
        let call =
            |mut newsletter: NewsletterClient| async move { newsletter.confirm(request).await.map(drop) };
        let Some(answer) = self.call_newsletter(fate, call)? else {
            return Ok(());
        };
        let id = self.books.people[person].id.clone();
        let can_be_confirmed = matches!(self.before.state(id.as_str()), Some("pending" | "confirmed"));
        ensure!(
            answer.is_ok() == can_be_confirmed,
            "answered {answer:?}, where a confirmation is due: {can_be_confirmed}"
        );
        match answer {
            Ok(()) => self.ensure_ended_as(id.as_str(), "confirmed", EventType::NewsletterConfirmed),
            Err(_) => Ok(()),
        }
    }

    fn unsubscribe(&mut self, person: usize, fate: Fate) -> anyhow::Result<()> {
        if !self.books.people[person].has_unsubscribe_link {
            return Ok(());
        }
        let token = self.token(person, Purpose::Unsubscribe)?;
        let request = UnsubscribeRequest { token };
        let call =
            |mut newsletter: NewsletterClient| async move { newsletter.unsubscribe(request).await.map(drop) };
        let answer = self.call_newsletter(fate, call)?;
        let id = self.books.people[person].id.clone();
        match (answer, self.before.state(id.as_str())) {
            (Some(Err(status)), _) => bail!("not unsubscribed, although nothing is wrong: {status}"),
            (Some(Ok(())), Some("pending" | "confirmed" | "unsubscribed")) => {
                self.ensure_ended_as(id.as_str(), "unsubscribed", EventType::NewsletterUnsubscribed)
            }
            (Some(Ok(())) | None, _) => Ok(()),
        }
    }

    /// Checks that a successful link left this state and an event of the subscription.
    fn ensure_ended_as(&mut self, person: &str, state: &str, event_type: EventType) -> anyhow::Result<()> {
        let after = self.wait(async |parts| Snapshot::read(&parts.client, &parts.s3).await)?;
        ensure!(
            after.state(person) == Some(state),
            "the answer was {state}, but the record is not"
        );
        let subscription = after.subscribers[person]["subscription"].as_str();
        let id = event_type.id_for(subscription.unwrap_or_default().parse()?);
        ensure!(
            after.event(&id.to_string()).is_some(),
            "the answer was {state}, but there is no event"
        );
        Ok(())
    }

    fn token(&self, person: usize, purpose: Purpose) -> anyhow::Result<String> {
        let expires = OffsetDateTime::now_utc() + Duration::from_secs(60 * 60);
        Ok(TokenKey::new(TOKEN_KEY)?.sign(purpose, &self.books.people[person].id, expires))
    }

    /// Returns whether there was an event.
    fn deliver(&mut self, channel: Channel, fate: Fate) -> anyhow::Result<bool> {
        let name = channel.name();
        let Some(message) = self.wait(async |parts| parts.next_message(name).await)? else {
            return Ok(false);
        };
        let event: serde_json::Value = serde_json::from_slice(&message.payload)?;
        let id = event["id"].as_str().unwrap_or_default();
        let mail = format!("{id}.{name}");
        let was_noted = self.is_noted(&mail)?;
        let done = run(&mut self.parts().notifier, fate, |notifier| {
            notifier.deliver(channel, &message)
        })?;
        self.end_of_process(fate, |parts| parts.notifier.kill())?;
        self.count_mails(&mail, was_noted)?;
        if done.is_none() {
            self.books.cut_off.insert(mail);
            self.redeliver(&message)?;
        }
        Ok(true)
    }

    fn is_noted(&mut self, mail: &str) -> anyhow::Result<bool> {
        let deliveries = self.wait(async |parts| snapshot::deliveries(&parts.client).await)?;
        Ok(deliveries.contains(mail))
    }

    /// Counts the mail of a delivery. It may repeat an earlier mail only if the earlier attempt was
    /// interrupted before its record was written.
    fn count_mails(&mut self, mail: &str, was_noted: bool) -> anyhow::Result<()> {
        let accepted = self.parts().mail.take_accepted();
        ensure!(accepted.len() <= 1, "one delivery sent {} mails", accepted.len());
        // If nothing was sent, the mail of an earlier interrupted attempt may still repeat.
        let Some(sent) = accepted.first() else {
            return Ok(());
        };
        let was_cut_off = self.books.cut_off.remove(mail);
        ensure!(
            message_id(&sent.content) == Some(mail),
            "a mail of another event or channel was sent"
        );
        let times = self.books.sent.entry(mail.to_owned()).or_default();
        ensure!(
            *times == 0 || (was_cut_off && !was_noted),
            "a mail was sent twice"
        );
        *times += 1;
        let people = self.books.people.iter_mut();
        for person in people.filter(|person| person.email == sent.recipient) {
            person.has_confirmation_link |= mail.ends_with(Channel::NewsletterConfirmation.name());
            person.has_unsubscribe_link |= mail.ends_with(Channel::NewsletterWelcome.name());
        }
        Ok(())
    }

    /// Redelivers at once, instead of after the ack wait.
    fn redeliver(&mut self, message: &Message) -> anyhow::Result<()> {
        self.wait(async |_| {
            let told = message.ack_with(AckKind::Nak(None)).await;
            told.map_err(|error| anyhow::anyhow!("{error}"))
        })
    }

    /// Returns whether there was a bounce.
    fn suppress(&mut self, fate: Fate) -> anyhow::Result<bool> {
        let next = self.wait(async |parts| parts.next_message(SUPPRESSION_CONSUMER).await)?;
        let Some(message) = next else {
            return Ok(false);
        };
        let done = run(&mut self.parts().newsletter, fate, |newsletter| {
            newsletter.suppress(&message)
        })?;
        self.end_of_process(fate, |parts| parts.newsletter.kill())?;
        if done.is_none() {
            self.redeliver(&message)?;
        }
        Ok(true)
    }

    /// Returns whether there was anything to deliver.
    fn deliver_each(&mut self) -> anyhow::Result<bool> {
        let mut was_one = self.suppress(Fate::Ends)?;
        for channel in Channel::ALL {
            while self.deliver(channel, Fate::Ends)? {
                was_one = true;
            }
        }
        Ok(was_one)
    }

    fn erase(&mut self, person: usize) -> anyhow::Result<()> {
        let id = self.books.people[person].id.clone();
        self.wait(async |parts| {
            let found = parts.stores.search(&id, &Default::default()).await?;
            parts.stores.erase(&id, &found).await?;
            let left = parts.stores.search(&id, &found.event_ids()).await?;
            ensure!(
                left.is_nothing(),
                "something is left of a person who was just erased"
            );
            Ok(())
        })?;
        self.books.people[person].is_erased = true;
        self.books.promises.retain(|promise| match promise {
            Promise::Event(_, submission) => submission.person != person,
            Promise::SignUp(of) => *of != person,
        });
        Ok(())
    }

    fn replay_dead_letters(&mut self) -> anyhow::Result<()> {
        self.wait(async |parts| {
            let reader = broker::reader(&parts.context, DEAD_LETTERS_STREAM).await?;
            let letters = broker::search(&reader, subjects::DEAD_LETTERS_SUBJECT).await?;
            let numbers: Vec<u64> = letters.iter().map(|letter| letter.sequence).collect();
            let (_, not_replayed) = replay_letters(&parts.context, reader.stream(), &numbers).await?;
            ensure!(not_replayed.is_empty(), "dead letters that no channel takes");
            Ok(())
        })
    }

    fn sweep(&mut self) -> anyhow::Result<()> {
        let after = self.wait(async |parts| {
            let (client, store) = (parts.client.clone(), parts.resumes.clone());
            sweep::remove_unneeded(client, store, Duration::ZERO, Mode { yes: true }).await?;
            Snapshot::read(&parts.client, &parts.s3).await
        })?;
        self.books.no_orphan_is_left(&after)
    }

    fn restart(&mut self, service: Service) -> anyhow::Result<()> {
        self.end_of_process(Fate::EndsAndDies, |parts| match service {
            Service::Contact => parts.contact.kill(),
            Service::Newsletter => parts.newsletter.kill(),
            Service::Careers => parts.careers.kill(),
            Service::Notifier => parts.notifier.kill(),
        })
    }

    fn end_of_process(&mut self, fate: Fate, kill: impl FnOnce(&mut Parts)) -> anyhow::Result<()> {
        if !matches!(fate, Fate::EndsAndDies | Fate::Dies(_)) {
            return Ok(());
        }
        kill(self.parts());
        self.wait(async |parts| parts.settle().await)
    }

    /// Delivers everything, reconciles, and erases everybody. Nothing may be left.
    fn end(&mut self) -> anyhow::Result<()> {
        self.parts().take_all_mails();
        let mut rounds = 0;
        while self.deliver_each()? || self.is_pending()? {
            rounds += 1;
            ensure!(rounds < MAX_ROUNDS, "something is delivered again and again");
        }
        self.balance()?;
        self.books.all_is_told(&self.before)?;
        let tried: Vec<Submission> = self.books.tried.values().flatten().copied().collect();
        if tried
            .iter()
            .any(|submission| submission.form == Form::Application)
        {
            self.take(&Step::Sweep)?;
        }
        for person in 0..PEOPLE {
            if tried.iter().any(|submission| submission.person == person) {
                self.take(&Step::Erase(person))?;
            }
        }
        let Snapshot { events, objects, .. } = &self.before;
        let are_erasures = events.iter().all(|stored| stored.is(EventType::PersonErased));
        ensure!(
            are_erasures && objects.is_empty(),
            "something is left after everybody was erased"
        );
        // The S3 server keeps metadata and folders of deleted objects, so they are removed here.
        let folder = self.parts().s3.folder.clone();
        for entry in fs::read_dir(&folder)?.chain(fs::read_dir(folder.join("resumes"))?) {
            let path = entry?.path();
            if path.is_file() {
                fs::remove_file(path)?;
            } else if path.parent() != Some(folder.as_path()) {
                fs::remove_dir_all(path)?;
            }
        }
        self.is_clean = IsClean::Yes;
        Ok(())
    }

    fn is_pending(&mut self) -> anyhow::Result<bool> {
        self.wait(async |parts| {
            let consumers = parts.consumers.keys().map(|consumer| parts.is_pending(consumer));
            let pending = try_join_all(consumers).await?;
            Ok(pending.contains(&true))
        })
    }
}

/// None if the caller left or the service died.
type Answer = Option<Result<(), Status>>;

fn run<'a, S, F>(
    process: &'a mut Process<S>,
    fate: Fate,
    operation: impl FnOnce(&'a S) -> F,
) -> anyhow::Result<Option<()>>
where
    F: Future<Output = ()> + Send + 'a,
{
    process.run(fate, |service| operation(service).boxed())
}

fn message_id(content: &str) -> Option<&str> {
    let mut lines = content.lines();
    let line = lines.find_map(|line| line.strip_prefix("Message-ID: <"))?;
    Some(line.split_once('@')?.0)
}
