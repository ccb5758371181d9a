//! Those who attack, until they are ended.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use reqwest::{
    Body, Client,
    multipart::{Form, Part},
};
use serde_json::json;
use testkit::crafted_resumes::crowded_archive;
use tokio::{
    task::JoinSet,
    time::{MissedTickBehavior, interval, sleep},
};
use tokio_util::bytes::Bytes;
use uuid::Uuid;

use super::{
    addresses::address,
    attack::{Attack, VICTIM},
    attempts::Attempts,
    connections::{self, Slowness},
};

/// Forms a second of a flood.
const FLOOD_RATE: u32 = 200;
const MANY_ADDRESSES: usize = 10_000;
const ARCHIVE_SENDERS: usize = 8;
const SLOW_UPLOADERS: usize = 50;
const UPLOADS_OF_EACH: usize = 4;
/// With as many uploads each as are read at once of one address they are enough for every place.
const LEAST_RATE_UPLOADERS: usize = 5;
const UPLOADS_AT_ONCE_OF_ONE: usize = 2;
/// Connections are made by so many addresses.
const CONNECTING_ADDRESSES: usize = 40;
const IDLE_CONNECTIONS: usize = 2_000;
const IDLE_CONNECTIONS_OF_ONE: usize = 500;
const SLOW_CONNECTIONS: usize = 1_000;
/// As long as an attacker waits for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Before whoever was refused comes again.
const PAUSE: Duration = Duration::from_millis(100);

/// Attackers at work.
pub struct Attackers {
    tasks: JoinSet<()>,
    attempts: Attempts,
}

impl Attackers {
    /// They begin, against the site at this port of this machine.
    ///
    /// # Errors
    ///
    /// If a client cannot be made.
    pub fn start(attack: Attack, port: u16) -> anyhow::Result<Self> {
        let site = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut attackers = Self {
            tasks: JoinSet::new(),
            attempts: Attempts::default(),
        };
        match attack {
            Attack::Quiet => {}
            Attack::CrowdedArchives => attackers.send_archives(site)?,
            Attack::SlowUploads => attackers.upload(site, Slowness::Upload, SLOW_UPLOADERS, UPLOADS_OF_EACH),
            Attack::LeastRateUploads => {
                attackers.upload(
                    site,
                    Slowness::UploadAtLeastRate,
                    LEAST_RATE_UPLOADERS,
                    UPLOADS_AT_ONCE_OF_ONE,
                );
            }
            Attack::IdleConnections => attackers.connect_idly(site),
            Attack::SlowConnections => attackers.connect_slowly(site),
            Attack::FloodFromOne => attackers.flood_from_one(site)?,
            Attack::FloodFromMany | Attack::ChallengedFlood => attackers.flood_from_many(site),
        }
        Ok(attackers)
    }

    /// They stop; gives how often they began something.
    pub async fn end(mut self) -> usize {
        self.tasks.shutdown().await;
        self.attempts.count()
    }

    fn send_archives(&mut self, site: SocketAddr) -> anyhow::Result<()> {
        let archive = Bytes::from(crowded_archive());
        for sender in 0..ARCHIVE_SENDERS {
            // Two of each address, as many as are read at once.
            let http = client(address(2, sender / 2))?;
            let (archive, attempts) = (archive.clone(), self.attempts.clone());
            self.tasks.spawn(async move {
                loop {
                    attempts.add();
                    // Refused or not: it is sent again.
                    let _answer = http
                        .post(url(site, "career-application"))
                        .multipart(application(&archive))
                        .send()
                        .await;
                    sleep(PAUSE).await;
                }
            });
        }
        Ok(())
    }

    fn upload(&mut self, site: SocketAddr, slowness: Slowness, addresses: usize, of_each: usize) {
        for upload in 0..addresses * of_each {
            let from = address(3, upload % addresses);
            let attempts = self.attempts.clone();
            self.tasks
                .spawn(connections::slow(from, site, slowness, attempts));
        }
    }

    fn connect_idly(&mut self, site: SocketAddr) {
        let of_many = (0..IDLE_CONNECTIONS).map(|number| address(4, number % CONNECTING_ADDRESSES));
        let of_one = (0..IDLE_CONNECTIONS_OF_ONE).map(|_| address(5, 0));
        for from in of_many.chain(of_one) {
            self.tasks
                .spawn(connections::idle(from, site, self.attempts.clone()));
        }
    }

    fn connect_slowly(&mut self, site: SocketAddr) {
        for number in 0..SLOW_CONNECTIONS {
            let from = address(6, number % CONNECTING_ADDRESSES);
            let slowness = Slowness::OF_CONNECTIONS[number % Slowness::OF_CONNECTIONS.len()];
            let attempts = self.attempts.clone();
            self.tasks
                .spawn(connections::slow(from, site, slowness, attempts));
        }
    }

    fn flood_from_one(&mut self, site: SocketAddr) -> anyhow::Result<()> {
        let http = client(address(7, 0))?;
        self.flood(move |_| {
            let request = http.post(url(site, "contact")).json(&message());
            async move { drop(request.send().await) }
        });
        Ok(())
    }

    fn flood_from_many(&mut self, site: SocketAddr) {
        self.flood(move |number| {
            connections::post(
                address(8, number % MANY_ADDRESSES),
                site,
                "contact",
                message().to_string(),
            )
        });
    }

    /// Sends at the flood's rate, answered or not.
    fn flood<Sending: Future<Output = ()> + Send + 'static>(
        &mut self,
        send: impl Fn(usize) -> Sending + Send + 'static,
    ) {
        let attempts = self.attempts.clone();
        self.tasks.spawn(async move {
            let mut sending = JoinSet::new();
            let mut ticks = interval(Duration::from_secs(1) / FLOOD_RATE);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
            for number in 0.. {
                ticks.tick().await;
                attempts.add();
                sending.spawn(send(number));
                while sending.try_join_next().is_some() {}
            }
        });
    }
}

fn client(from: Ipv4Addr) -> reqwest::Result<Client> {
    Client::builder()
        .timeout(ANSWER_TIMEOUT)
        .local_address(Some(from.into()))
        .build()
}

fn url(site: SocketAddr, form: &str) -> String {
    format!("http://{site}/api/{form}")
}

/// A message that another one is not.
fn message() -> serde_json::Value {
    json!({ "name": "Mallory", "email": VICTIM, "message": Uuid::new_v4().to_string() })
}

fn application(resume: &Bytes) -> Form {
    let part = Part::stream_with_length(Body::from(resume.clone()), resume.len() as u64).file_name("cv.docx");
    let fields = [
        ("name", "Mallory"),
        ("email", VICTIM),
        ("position", "Backend Intern"),
        ("coverLetter", "Please look at this."),
    ];
    let form = fields
        .into_iter()
        .fold(Form::new(), |form, (name, value)| form.text(name, value));
    form.part("resume", part)
}
