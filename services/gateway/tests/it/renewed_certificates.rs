//! Certificate renewal: programs restart with new certificates, and no form fails meanwhile.

use std::{
    fs::{self, File},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, ensure};
use futures_util::future::try_join_all;
use reqwest::Client;
use serde_json::json;
use tempfile::TempDir;
use testkit::{
    CertificateAuthority, ChildProcess, MountedCertificate, Nats, PERSON_KEY, Usage, User, eventually,
    free_ports, pass_flags,
};
use tokio::{
    process::Command,
    time::{Instant, sleep},
};
use tokio_util::task::AbortOnDropHandle;

const SOON: Duration = Duration::from_secs(60);
/// Seconds within which a program exits after its certificate files change. Its supervisor then restarts it.
const RESTART_WITHIN: &str = "5";
/// Time for which a visitor retries after a refused connection, like a proxy in front of two gateways.
const PROXY_TRIES: Duration = Duration::from_secs(5);
const VISITORS: usize = 4;
const HOST: &str = "127.0.0.1";

struct Supervised {
    starts: Arc<AtomicUsize>,
    running: AbortOnDropHandle<anyhow::Result<()>>,
}

impl Supervised {
    fn start(log: &Path, command: impl Fn() -> Command + Send + 'static) -> anyhow::Result<Self> {
        let starts = Arc::<AtomicUsize>::default();
        let (counted, log) = (Arc::clone(&starts), File::create(log)?);
        let running = tokio::spawn(async move {
            loop {
                counted.fetch_add(1, Ordering::Relaxed);
                let (out, err) = (log.try_clone()?, log.try_clone()?);
                let status = command()
                    .kill_on_drop(true)
                    .stdout(out)
                    .stderr(err)
                    .status()
                    .await?;
                ensure!(status.success(), "it ended with {status}");
            }
        });
        let running = AbortOnDropHandle::new(running);
        Ok(Self { starts, running })
    }

    async fn was_started_again(&self) -> anyhow::Result<()> {
        eventually("it was started again", SOON, async || {
            (self.running.is_finished() || self.starts.load(Ordering::Relaxed) > 1).then_some(())
        })
        .await?;
        ensure!(!self.running.is_finished(), "it ended otherwise");
        Ok(())
    }
}

fn with_certificate(mut command: Command, mounted: &MountedCertificate, port: u16) -> Command {
    command
        .args(mounted.grpc_flags())
        .env("LISTEN", format!("{HOST}:{port}"))
        .env("HEALTH_LISTEN", format!("{HOST}:0"))
        .env("TLS_RESTART_SECONDS", RESTART_WITHIN);
    command
}

/// Sends a form. Like a proxy, tries the other gateway if one refuses the connection.
async fn send(number: usize, gateways: [u16; 2]) -> anyhow::Result<()> {
    let begun = Instant::now();
    for attempt in number.. {
        let form = json!({
            "name": "Asha",
            "email": format!("visitor-{number}@example.org"),
            "message": "Hello",
        });
        let url = format!("http://{HOST}:{}/api/contact", gateways[attempt % 2]);
        match Client::new().post(url).json(&form).send().await {
            Ok(answer) => {
                let status = answer.status();
                let body = answer.text().await?;
                ensure!(
                    status.is_success() && body.contains("\"success\":true"),
                    "{status}: {body}"
                );
                return Ok(());
            }
            Err(error) if error.is_connect() && begun.elapsed() < PROXY_TRIES => {
                sleep(Duration::from_millis(50)).await;
            }
            Err(error) => return Err(error).context(format!("form {number}")),
        }
    }
    Ok(())
}

struct Site {
    nats: Nats,
    of_contact: Arc<MountedCertificate>,
    of_gateway: Arc<MountedCertificate>,
    gateways: [u16; 2],
    programs: Vec<Supervised>,
    logs: TempDir,
}

impl Site {
    async fn start(issuer: &CertificateAuthority, trusted: &str) -> anyhow::Result<Self> {
        let [contact_port, gateways @ ..] = free_ports::<3>()?;
        let mut site = Self {
            nats: Nats::start().await?,
            of_contact: Arc::new(MountedCertificate::new(issuer.issue_to_server(&[HOST])?, issuer)?),
            of_gateway: Arc::new(MountedCertificate::new(of_client(issuer)?, issuer)?),
            gateways,
            programs: Vec::new(),
            logs: TempDir::new()?,
        };
        site.renew(issuer, trusted)?;
        let program = Path::new(env!("CARGO_BIN_EXE_gateway")).with_file_name("contact");
        let (mounted, broker) = (Arc::clone(&site.of_contact), site.nats.flags(User::Contact));
        site.run("contact", move || {
            let mut command = Command::new(&program);
            pass_flags(command.as_std_mut(), &broker);
            command.env("PERSON_KEY", PERSON_KEY);
            with_certificate(command, &mounted, contact_port)
        })?;
        for port in gateways {
            let mounted = Arc::clone(&site.of_gateway);
            site.run(&format!("gateway-{port}"), move || {
                let mut command = Command::new(env!("CARGO_BIN_EXE_gateway"));
                command
                    .env("CONTACT_URL", format!("https://{HOST}:{contact_port}"))
                    .env("NEWSLETTER_URL", "https://127.0.0.1:9")
                    .env("CAREERS_URL", "https://127.0.0.1:9")
                    .env("RATE_BURST", "100000");
                with_certificate(command, &mounted, port)
            })?;
        }
        Ok(site)
    }

    fn run(&mut self, name: &str, command: impl Fn() -> Command + Send + 'static) -> anyhow::Result<()> {
        let log = self.logs.path().join(format!("{name}.log"));
        self.programs.push(Supervised::start(&log, command)?);
        Ok(())
    }

    fn renew(&self, issuer: &CertificateAuthority, trusted: &str) -> anyhow::Result<()> {
        self.of_contact
            .renew(issuer.issue_to_server(&[HOST])?, trusted.to_owned())?;
        self.of_gateway.renew(of_client(issuer)?, trusted.to_owned())
    }
}

fn of_client(issuer: &CertificateAuthority) -> anyhow::Result<[String; 2]> {
    issuer.issue_for(&["gateway"], vec![Usage::ClientAuth])
}

#[tokio::test(flavor = "multi_thread")]
async fn no_form_fails_while_certificates_are_renewed() -> anyhow::Result<()> {
    let (former, new) = (CertificateAuthority::new()?, CertificateAuthority::new()?);
    let both = former.pem() + &new.pem();
    let site = Site::start(&former, &both).await?;
    eventually("a form is taken", SOON, async || {
        send(0, site.gateways).await.ok()
    })
    .await?;
    let (sent, is_over) = (AtomicUsize::new(1), AtomicBool::new(false));
    let visitors = (0..VISITORS).map(async |_| {
        while !is_over.load(Ordering::Relaxed) {
            send(sent.fetch_add(1, Ordering::Relaxed), site.gateways).await?;
            sleep(Duration::from_millis(20)).await;
        }
        anyhow::Ok(())
    });
    let renewing = async {
        site.renew(&new, &both)?;
        for program in &site.programs {
            program.was_started_again().await?;
        }
        sleep(Duration::from_secs(1)).await;
        is_over.store(true, Ordering::Relaxed);
        anyhow::Ok(())
    };
    tokio::try_join!(try_join_all(visitors), renewing)?;
    let events = site.nats.events().await?;
    let sent = sent.load(Ordering::Relaxed);
    assert_eq!(events.len(), sent, "each form is stored, and once");
    Ok(())
}

#[tokio::test]
async fn a_program_keeps_running_with_unusable_renewed_files() -> anyhow::Result<()> {
    let (authority, logs) = (CertificateAuthority::new()?, TempDir::new()?);
    let issue = || of_client(&authority);
    let mounted = MountedCertificate::new(issue()?, &authority)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_gateway"));
    for service in ["CONTACT_URL", "NEWSLETTER_URL", "CAREERS_URL"] {
        command.env(service, "https://127.0.0.1:9");
    }
    let [port] = free_ports()?;
    let mut gateway = ChildProcess::start("gateway", logs.path(), with_certificate(command, &mounted, port))?;
    gateway.listens(port, SOON).await?;
    mounted.renew([issue()?[0].clone(), "no key".to_owned()], authority.pem())?;
    eventually("it says so", SOON, async || {
        let log = fs::read_to_string(logs.path().join("gateway.log")).ok()?;
        (log.contains("changed TLS files are invalid") && log.contains("GRPC_KEY_FILE")).then_some(())
    })
    .await?;
    assert_eq!(gateway.ended(), None);
    mounted.renew(issue()?, authority.pem())?;
    let ended = eventually("it stops", SOON, async || gateway.ended()).await?;
    assert!(ended.contains("exit status: 0"), "{ended}");
    Ok(())
}
