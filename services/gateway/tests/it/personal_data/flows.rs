//! All flows of a visitor, with marked data.

use std::time::Duration;

use reqwest::{RequestBuilder, StatusCode, multipart};
use serde_json::{Value as Json, json};
use site_events::EventType;
use tokio::{io::AsyncWriteExt, net::TcpStream, time::sleep};
use uuid::Uuid;
use visitor::{
    EmailAddress, PersonKey,
    token::{Purpose, TokenKey},
};

use super::{FILE_MARK, MARK, NETWORK_ADDRESS, PERSON_KEY, Site, TOKEN_KEY, VISITOR};

impl Site {
    fn post(&self, path: &str) -> RequestBuilder {
        let url = format!("{}/api/{path}?{MARK}=query", self.stack.site());
        self.http.post(url).header("x-forwarded-for", NETWORK_ADDRESS)
    }

    pub(super) async fn contact(&self, email: &str, key: Uuid, message: &str) -> anyhow::Result<StatusCode> {
        let mut form: Json = marked_fields(EventType::ContactReceived).collect();
        form["email"] = email.into();
        form["message"] = format!("{MARK} {message}").into();
        form["attribution"] = json!({ "page": format!("/{MARK}"), "utmSource": format!("{MARK}-source") });
        let answer = self
            .post("contact")
            .header("idempotency-key", key.to_string())
            .json(&form);
        Ok(answer.send().await?.status())
    }

    async fn send(&self, path: &str, body: &Json) -> anyhow::Result<StatusCode> {
        Ok(self.post(path).json(body).send().await?.status())
    }

    pub(super) async fn sign_up(&self, email: &str) -> anyhow::Result<StatusCode> {
        self.send("newsletter", &json!({ "email": email })).await
    }

    pub(super) async fn apply(&self, resume: Vec<u8>, file_name: &str) -> anyhow::Result<StatusCode> {
        let mut form = multipart::Form::new().text("email", VISITOR);
        for (field, text) in marked_fields(EventType::CareersApplied).filter(|(field, _)| *field != "email") {
            form = form.text(field, text);
        }
        let resume = multipart::Part::bytes(resume).file_name(file_name.to_owned());
        let form = form.part("resume", resume);
        let application = self.post("career-application").multipart(form);
        Ok(application.send().await?.status())
    }

    pub(super) async fn apply_and_leave(&self) -> anyhow::Result<()> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.stack.ports.site)).await?;
        let head = format!(
            "POST /api/career-application HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {NETWORK_ADDRESS}\r\n\
             Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n\
             --b\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\n{VISITOR}\r\n\
             --b\r\nContent-Disposition: form-data; name=\"resume\"; filename=\"{FILE_MARK}.pdf\"\r\n\r\n%PDF-1.7 {MARK} "
        );
        connection.write_all(head.as_bytes()).await?;
        connection.write_all(MARK.repeat(20_000).as_bytes()).await?;
        sleep(Duration::from_secs(1)).await;
        Ok(())
    }

    /// Signs up, confirms and unsubscribes with the tokens of the mails' links. Returns the tokens.
    pub(super) async fn join_and_leave_the_newsletter(&self) -> anyhow::Result<[String; 2]> {
        let (confirm, unsubscribe) = (token(Purpose::Confirm)?, token(Purpose::Unsubscribe)?);
        assert_eq!(self.sign_up(VISITOR).await?, StatusCode::OK);
        let confirmation = json!({ "token": confirm });
        let confirmed = self.send("newsletter/confirm", &confirmation).await?;
        assert_eq!(confirmed, StatusCode::OK);
        // One-click unsubscription of mail programs has the token in the URL (RFC 8058).
        let one_click = format!(
            "{}/api/newsletter/unsubscribe?token={unsubscribe}",
            self.stack.site()
        );
        let left = self
            .http
            .post(one_click)
            .form(&[("List-Unsubscribe", "One-Click")]);
        assert_eq!(left.send().await?.status(), StatusCode::OK);
        Ok([confirm, unsubscribe])
    }

    pub(super) async fn be_refused(&self, known_key: Uuid) -> anyhow::Result<()> {
        let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
        assert_eq!(self.contact(MARK, Uuid::new_v4(), "hello").await?, unprocessable);
        assert_eq!(self.contact(VISITOR, known_key, "another").await?, unprocessable);
        assert_eq!(self.sign_up(&format!("{MARK} at example")).await?, unprocessable);
        let broken = format!("{{ \"name\": \"{MARK}\", \"email\": {MARK} }}");
        let json = self.post("contact").header("content-type", "application/json");
        assert_eq!(json.body(broken).send().await?.status(), StatusCode::BAD_REQUEST);
        let no_resume = format!("{MARK} is no file of that kind").into_bytes();
        let refused = self.apply(no_resume, &format!("{FILE_MARK}.pdf")).await?;
        assert_eq!(refused, unprocessable);
        self.be_refused_without_a_script().await?;
        let report = json!({ "remote": MARK, "reason": MARK });
        let reported = self.send("remote-failure", &report).await?;
        assert_eq!(reported, StatusCode::BAD_REQUEST);
        let token = json!({ "token": format!("{MARK}.token") });
        assert_eq!(self.send("newsletter/confirm", &token).await?, unprocessable);
        for path in ["contact", "api/nothing"] {
            let url = format!("{}/{path}?{MARK}=query&email={VISITOR}", self.stack.site());
            let referer = format!("https://{MARK}.example/");
            self.http.get(url).header("referer", referer).send().await?;
        }
        Ok(())
    }

    async fn be_refused_without_a_script(&self) -> anyhow::Result<()> {
        let form = [
            ("name", format!("{MARK} Zoë")),
            ("email", format!("{MARK} at example")),
            ("message", format!("{MARK} hello")),
        ];
        let answer = self.post("contact").header("accept", "text/html").form(&form);
        let answer = answer.send().await?;
        assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert!(answer.text().await?.contains(&format!("{MARK} hello")));
        Ok(())
    }
}

/// Every field of the form, each with the mark.
fn marked_fields(form: EventType) -> impl Iterator<Item = (&'static str, String)> {
    let fields = form.form_fields().iter();
    fields.map(|&(field, label)| (field, format!("{MARK} {label}")))
}

fn token(purpose: Purpose) -> anyhow::Result<String> {
    let person = PersonKey::new(PERSON_KEY)?.person(&EmailAddress::parse(VISITOR)?);
    let expires = time::OffsetDateTime::now_utc() + time::Duration::DAY;
    Ok(TokenKey::new(TOKEN_KEY)?.sign(purpose, &person, expires))
}
