use super::{
    Refusal::{self, Account, Mail, NoSuchAddress, Unknown},
    SmtpStage, is_system_failure,
};

/// Answers of relays, each under a heading such as `# Gmail: Account`.
const ANSWERS: &str = include_str!("answers.txt");

fn cause(answer: &str) -> Refusal {
    let (code, words) = answer.split_once(' ').expect("a code");
    Refusal::of(code.parse().expect("a code"), words, SmtpStage::Recipient)
}

#[test]
fn answers_concern_our_account_a_recipient_or_a_mail() {
    let mut wrong = Vec::new();
    for section in ANSWERS.split("\n# ").skip(1) {
        let (heading, answers) = section.split_once('\n').expect("answers");
        let refusal = match heading.rsplit_once(": ").map(|(_, cause)| cause) {
            Some("Account") => Account,
            Some("NoSuchAddress") => NoSuchAddress,
            Some("Mail") => Mail,
            Some("Unknown") => Unknown,
            _ => panic!("no cause in \"{heading}\""),
        };
        for answer in answers.lines().filter(|answer| !answer.is_empty()) {
            let is = cause(answer);
            if is != refusal {
                wrong.push(format!("{heading}: {answer}\n  is {is:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_recipients_deferral_is_not_an_account_refusal() {
    for answer in [
        "450 4.7.1 : Recipient address rejected: Greylisted",
        "451 4.7.1 Greylisted, please try again later",
        "450 4.2.1 The user you are trying to contact is receiving mail too quickly.",
        "452 4.2.2 The email account that you tried to reach is over quota",
        "450 4.2.0 Mailbox busy",
        "451 4.3.0 Queue file write error",
        "452 4.5.3 Too many recipients",
        "451 Local error in processing",
    ] {
        assert_ne!(cause(answer), Account, "{answer}");
    }
}

#[test]
fn only_a_recipients_answer_means_no_such_address() {
    let answer = |stage| Refusal::of(550, "5.1.1 No such user", stage);
    assert_eq!(answer(SmtpStage::Recipient), NoSuchAddress);
    assert_eq!(answer(SmtpStage::Content), Mail);
    assert_eq!(answer(SmtpStage::Sender), Account);
}

#[test]
fn system_failures_differ_from_message_failures() {
    for (code, words, about_the_server) in [
        (
            450,
            "transient error (450): 4.3.2 System not accepting messages",
            true,
        ),
        (451, "transient error (451): 4.3.0 Queue file write error", true),
        (452, "transient error (452): Insufficient system storage", true),
        (452, "transient error (452): 4.3.4 Message too big", false),
        (452, "transient error (452): 4.5.3 Too many recipients", false),
        (450, "transient error (450): 4.2.0 Greylisted", false),
        (451, "transient error (451): Local error", false),
    ] {
        assert_eq!(is_system_failure(code, words), about_the_server, "{words}");
    }
}
