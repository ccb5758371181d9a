//! Who may take snapshots of streams and restore them.

use futures_util::future::try_join_all;
use serde_json::json;
use testkit::{Nats, User};

use crate::readers::is_answered;

fn may(user: User, subject: &str) -> bool {
    match user {
        User::Operator => true,
        User::Backup => subject.contains(".SNAPSHOT."),
        _ => false,
    }
}

#[tokio::test]
async fn only_the_operator_and_who_backs_up_may_take_snapshots_and_only_the_operator_may_restore()
-> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let mut asked = Vec::new();
    for user in User::all() {
        let inbox = format!("_INBOX_{}.chunks", user.name());
        let restored = json!({
            "config": { "name": user.name(), "subjects": [format!("restored.{}", user.name())] },
            "state": {},
        });
        for (subject, body) in [
            (
                "$JS.API.STREAM.SNAPSHOT.SITE".to_owned(),
                json!({ "deliver_subject": inbox }),
            ),
            (
                "$JS.API.STREAM.SNAPSHOT.KV_subscribers".to_owned(),
                json!({ "deliver_subject": inbox }),
            ),
            (format!("$JS.API.STREAM.RESTORE.{}", user.name()), restored),
            ("$JS.API.STREAM.NAMES".to_owned(), json!({})),
        ] {
            asked.push((user, subject, body));
        }
    }
    let answers = asked
        .iter()
        .map(|(user, subject, body)| is_answered(&nats, *user, (subject, body), may(*user, subject)));
    let answers = try_join_all(answers).await?;
    for ((user, subject, _), answered) in asked.iter().zip(answers) {
        assert_eq!(answered, may(*user, subject), "{} {subject}", user.name());
    }
    Ok(())
}
