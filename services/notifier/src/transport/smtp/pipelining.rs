//! What a mail server is told at once (RFC 2920), and how a conversation ends in which it refused some of that.

use lettre::{Message, address::Envelope, transport::smtp::extension::ClientId};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{
    SmtpError, content::Content, error::HandOverError, limits::BudgetShare, stream, transaction::Connection,
};

const OFFERED: &str = "250-mail.example\r\n250-SIZE 1000000\r\n250 pipelining\r\n";
const NOT_OFFERED: &str = "250-mail.example\r\n250 PIPELININGS\r\n";

/// Gives each answer to the next piece that comes, and gives the pieces.
async fn answer(mut client: TcpStream, answers: &[&str]) -> anyhow::Result<Vec<String>> {
    client.write_all(b"220 mail.example\r\n").await?;
    let mut pieces = Vec::new();
    for answer in answers.iter().map(Some).chain([None]) {
        let mut piece = vec![0; 4096];
        let read = client.read(&mut piece).await.unwrap_or_default();
        if read > 0 {
            pieces.push(String::from_utf8_lossy(&piece[..read]).into_owned());
        }
        if let Some(answer) = answer {
            client.write_all(answer.as_bytes()).await?;
        }
    }
    Ok(pieces)
}

/// Hands one mail over to a server that answers so; gives what came of it, and the commands as they came after EHLO.
async fn hand_over(answers: &[&str]) -> anyhow::Result<(Result<(), HandOverError>, Vec<String>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let server = async { answer(listener.accept().await?.0, answers).await };
    let client = async {
        let stream = stream::connect("127.0.0.1", port, super::CONNECT_TIMEOUT, None).await;
        let stream = stream.map_err(|error| anyhow::anyhow!("{error}"))?;
        let connection = Connection::greet(stream, &ClientId::Domain("us.example".into()), None).await;
        let mut connection = connection.map_err(|error| anyhow::anyhow!("{error}"))?;
        anyhow::Ok(converse(&mut connection).await)
    };
    let (pieces, sent) = tokio::join!(server, client);
    let mut pieces = pieces?;
    anyhow::ensure!(pieces.iter().take(2).all(|piece| piece == "EHLO us.example\r\n"));
    Ok((sent?, pieces.split_off(2)))
}

async fn converse(connection: &mut Connection) -> Result<(), HandOverError> {
    let message = Message::builder()
        .from("sales@oculant.example".parse().expect("an address"))
        .to("asha.rao@example.com".parse().expect("an address"))
        .body("text".to_owned())
        .expect("a message");
    let envelope: &Envelope = message.envelope();
    let sent = connection.send_envelope(envelope).await;
    sent.map_err(|(_stage, error)| error)?;
    let content = Content::new(&message, BudgetShare::default());
    connection.send_content(content, envelope).await
}

const MAIL: &str = "MAIL FROM:<sales@oculant.example>\r\n";
const RCPT: &str = "RCPT TO:<asha.rao@example.com>\r\n";
const DATA: &str = "DATA\r\n";

#[tokio::test]
async fn a_server_that_takes_commands_at_once_is_told_sender_recipient_and_data_in_one_piece()
-> anyhow::Result<()> {
    let answers = "250 Ok\r\n250 Ok\r\n354 Go ahead\r\n";
    let (sent, pieces) = hand_over(&[OFFERED, OFFERED, answers, "250 Taken\r\n"]).await?;
    sent.map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let [commands, content] = &*pieces else {
        anyhow::bail!("{pieces:?}")
    };
    assert_eq!(*commands, [MAIL, RCPT, DATA].concat());
    assert!(content.ends_with("text\r\n.\r\n"), "{content}");
    Ok(())
}

#[tokio::test]
async fn any_other_server_is_told_one_command_after_the_other() -> anyhow::Result<()> {
    let refused = "502 5.5.1 Not twice\r\n";
    for second in [NOT_OFFERED, refused] {
        let answers = ["250 Ok\r\n", "250 Ok\r\n", "354 Go\r\n", "250 Taken\r\n"];
        let (sent, pieces) = hand_over(&[&[OFFERED, second], &answers[..]].concat()).await?;
        sent.map_err(|error| anyhow::anyhow!("{error:?}"))?;
        assert_eq!(pieces[..3], [MAIL, RCPT, DATA], "{second}");
    }
    Ok(())
}

/// A goodbye would be the beginning of a mail where the server waits for one, and is due where it does not.
#[tokio::test]
async fn whoever_is_refused_is_told_apart_and_no_content_follows() -> anyhow::Result<()> {
    let gone = "550 5.1.1 No such user\r\n";
    for (data, goodbye) in [
        ("554 5.5.1 No recipient\r\n", Some("QUIT\r\n")),
        ("354 Go\r\n", None),
    ] {
        let answers = ["250 Ok\r\n", gone, data].concat();
        let (sent, pieces) = hand_over(&[OFFERED, OFFERED, &answers]).await?;
        assert!(
            matches!(sent, Err(HandOverError::Message(SmtpError::NoSuchAddress(_)))),
            "{sent:?}"
        );
        assert_eq!(pieces.get(1).map(String::as_str), goodbye, "{data}");
    }
    let answers = "451 4.3.0 Not now\r\n503 No sender\r\n503 No sender\r\n";
    let (sent, pieces) = hand_over(&[OFFERED, OFFERED, answers]).await?;
    assert!(matches!(sent, Err(HandOverError::Away(..))), "{sent:?}");
    assert_eq!(pieces.get(1).map(String::as_str), Some("QUIT\r\n"));
    Ok(())
}
