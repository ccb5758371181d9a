//! Texts of popular relays, verbatim except for addresses, with their causes.

use super::Refusal::{self, Account, Mail, NoSuchAddress, Unknown};
use crate::transport::smtp::failure::SmtpStage;

/// Answers to RCPT TO or to the content; most relays use the same for both.
const ANSWERS: &[(&str, Refusal, &[&str])] = &[
    (
        "Gmail",
        Account,
        &[
            "550 5.4.5 Daily user sending limit exceeded. For more information on Gmail sending limits go to https://support.google.com/a/answer/166852",
            "550 5.7.1 Invalid credentials for relay [192.0.2.1]. The IP address you've registered in your Workspace SMTP Relay service doesn't match the domain of the account",
            "550 5.7.0 Mail relay denied [192.0.2.1]. Invalid credentials for relay",
            "550 5.7.1 [192.0.2.1] The IP you're using to send mail is not authorized to send email directly to our servers.",
            "550 5.7.1 [192.0.2.1 12] Our system has detected that this message is likely suspicious due to the very low reputation of the sending IP address. To best protect our users from spam, the message has been blocked.",
            "550 5.7.25 [192.0.2.1] The IP address sending this message does not have a PTR record setup",
            "550 5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM.",
            "550 5.7.28 [192.0.2.1] Our system has detected an unusual rate of unsolicited mail originating from your IP address.",
            "530 5.5.1 Authentication Required.",
            "534 5.7.14 Please log in via your web browser and then try again.",
            "535 5.7.8 Username and Password not accepted.",
            "552 5.4.5 Daily SMTP relay sending limit exceeded for customer.",
            "421 4.7.0 Daily user sending quota exceeded",
        ],
    ),
    (
        "Gmail",
        NoSuchAddress,
        &[
            "550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address",
            "550 5.2.1 The email account that you tried to reach is disabled.",
        ],
    ),
    (
        "Gmail",
        Mail,
        &[
            "552 5.2.2 The email account that you tried to reach is over quota. Please direct the recipient to clear space",
        ],
    ),
    (
        "Gmail",
        Mail,
        &[
            "552 5.7.0 This message was blocked because its content presents a potential security issue.",
            "552 5.2.3 Your message exceeded Google's message size limits.",
            "550 5.7.1 [192.0.2.1] Our system has detected that this message is likely unsolicited mail. To reduce the amount of spam sent to Gmail, this message has been blocked.",
        ],
    ),
    (
        "Microsoft 365",
        Account,
        &[
            "550 5.7.60 SMTP; Client does not have permissions to send as this sender",
            "554 5.2.252 SendAsDenied; not allowed to send as; STOREDRV.Submission.Exception:SendAsDeniedException.MapiExceptionSendAsDenied",
            "554 5.2.0 STOREDRV.Submission.Exception:SendAsDeniedException.MapiExceptionSendAsDenied; Failed to process message due to a permanent exception",
            "550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain",
            "550 5.7.64 TenantAttribution; Relay Access Denied [ValidationStatus of '' is EmptyCertificate]",
            "530 5.7.57 SMTP; Client was not authenticated to send anonymous mail during MAIL FROM",
            "535 5.7.139 Authentication unsuccessful, basic authentication is disabled.",
            "535 5.7.3 Authentication unsuccessful",
            "550 5.1.8 Access denied, bad outbound sender",
            "550 5.1.90 Your message can't be sent because you've reached your daily limit for message recipients",
            "554 5.2.2 Submission quota exceeded",
            "550 5.7.501 Access denied, spam abuse detected from",
            "550 5.7.705 Access denied, tenant has exceeded threshold.",
            "550 5.7.708 Access denied, traffic not accepted from this IP.",
            "550 5.7.750 Service unavailable. Client blocked from sending from unregistered domains.",
            "550 5.7.511 Access denied, banned sender[192.0.2.1].",
            "550 5.7.606 Access denied, banned sending IP [192.0.2.1].",
            "550 5.7.509 Access denied, sending domain oculant.example does not pass DMARC verification and has a DMARC policy of reject.",
            "550 5.7.515 Access denied, sending domain oculant.example doesn't meet the required authentication level.",
            "550 5.7.1 Service unavailable, Client host [192.0.2.1] blocked using Spamhaus.",
        ],
    ),
    (
        "Microsoft 365",
        NoSuchAddress,
        &[
            "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup",
            "550 5.4.1 Recipient address rejected: Access denied. [AM0EUR02FT012.eop-EUR02.prod.protection.outlook.com]",
            "550 5.5.0 Requested action not taken: mailbox unavailable.",
        ],
    ),
    (
        "Microsoft 365",
        Mail,
        &[
            "554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded",
            "550 5.7.1 RESOLVER.RST.AuthRequired; authentication required",
            "550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group",
            "550 5.7.1 RESOLVER.RST.NotAuthorized; not authorized to send to this recipient",
            "550 5.2.121 RESOLVER.RST.RecipientThresholdExceeded; recipient's per hour message receive limit exceeded",
        ],
    ),
    (
        "Microsoft 365",
        Mail,
        &[
            "550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient",
            "554 5.3.4 Message size exceeds fixed maximum message size",
            "550 5.7.1 Message rejected as spam by Content Filtering.",
            "554 5.6.0 Invalid message content",
        ],
    ),
    (
        "Amazon SES",
        Account,
        &[
            "554 Message rejected: Email address is not verified. The following identities failed the check in region EU-CENTRAL-1:",
            "554 Message rejected: Sending suspended for this account.",
            "554 Message rejected: Sending paused for this account. For more information, please check the inbox",
            "454 Throttling failure: Daily message quota exceeded.",
            "454 Throttling failure: Maximum sending rate exceeded.",
            "554 Access denied: User `arn:aws:iam::123:user/site' is not authorized to perform `ses:SendRawEmail' on resource",
            "530 Must issue a STARTTLS command first",
            "530 Authentication required",
            "535 Authentication Credentials Invalid",
        ],
    ),
    (
        "Amazon SES",
        Mail,
        &["554 Message rejected: Address blacklisted."],
    ),
    (
        "Amazon SES",
        Mail,
        &[
            "552 5.3.4 Message too long: maximum message size is 10485760",
            "554 Message rejected: The message contains a virus.",
        ],
    ),
    (
        "Postfix",
        Account,
        &[
            "554 5.7.1 : Relay access denied",
            "454 4.7.1 : Relay access denied",
            "553 5.7.1 : Sender address rejected: not owned by user site",
            "553 5.7.1 : Sender address rejected: not logged in",
            "550 5.1.0 : Sender address rejected: User unknown in virtual mailbox table",
            "450 4.1.8 : Sender address rejected: Domain not found",
            "504 5.5.2 : Helo command rejected: need fully-qualified hostname",
            "450 4.7.1 : Helo command rejected: Host not found",
            "554 5.7.1 : Client host rejected: Access denied",
            "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1",
            "530 5.7.0 Must issue a STARTTLS command first",
            "550 5.7.23 : Recipient address rejected: Message rejected due to: SPF fail - not authorized.",
        ],
    ),
    (
        "Postfix",
        NoSuchAddress,
        &[
            "550 5.1.1 : Recipient address rejected: User unknown in local recipient table",
            "550 5.1.2 : Recipient address rejected: Domain not found",
            "550 5.1.1 : Recipient address rejected: undeliverable address: host mx.example.com[192.0.2.1] said: 550 5.7.1 Relaying denied, sending quota exceeded (in reply to RCPT TO command)",
        ],
    ),
    (
        "Postfix",
        Mail,
        &[
            "554 5.7.1 : Recipient address rejected: Access denied",
            "552 5.2.2 : Mailbox is full / Blocks limit exceeded",
        ],
    ),
    (
        "Postfix",
        Mail,
        &[
            "552 5.3.4 Error: message file too big",
            "552 5.3.4 Message size exceeds fixed limit",
            "550 5.7.1 message content rejected",
            "554 5.7.0 Reject, id=12345-01 - BANNED: application/x-msdownload,.exe,cv.exe",
            "554 5.7.1 Spam message rejected",
            "554 5.7.1 Message contains a URL listed at dbl.spamhaus.org",
            "554 5.7.1 Looks like spam",
        ],
    ),
    (
        "Exim",
        Account,
        &[
            "550 relay not permitted",
            "550 relay not permitted, authentication required",
            "550 authentication required",
            "550 SMTP AUTH is required for message submission on port 587",
            "550 Sender verify failed",
            "550 HELO should be a FQDN or address literal (See RFC 2821 4.1.1.1)",
            "550 Access denied - Invalid HELO name (See RFC2821 4.1.1.1)",
            "501 Syntactically invalid EHLO argument(s)",
            "550 Domain oculant.example has exceeded the max emails per hour (100/100 (100%)) allowed. Message discarded.",
            "550 Outgoing mail from [address] has been suspended.",
            "550 JunkMail rejected - mail.oculant.example [192.0.2.1] is in an RBL, see https://www.spamhaus.org",
        ],
    ),
    (
        "Exim",
        NoSuchAddress,
        &[
            "550 Unrouteable address",
            "550 Unknown user",
            "550 No such user here",
            "550 No Such User Here",
        ],
    ),
    (
        "Exim",
        Mail,
        &[
            "550 Mailbox is full",
            "552 mailbox is over quota",
            "554 no such user",
        ],
    ),
    (
        "Exim",
        Mail,
        &[
            "552 Message size exceeds maximum permitted",
            "550 This message was classified as SPAM and may not be delivered",
            "550 This message contains malware (Eicar-Signature)",
            "550 Potentially executable content. If you meant to send this file then please package it up as a zip file and resend it.",
            "554 Blocked attachment",
        ],
    ),
    (
        "Mailgun",
        Account,
        &[
            "550 5.7.1 Relaying denied",
            "550 Domain sandbox.mailgun.org is not allowed to send: Free accounts are for test purposes only. Please upgrade or add the address to authorized recipients",
            "550 Domain oculant.example is not allowed to send: The domain is unverified and requires DNS configuration.",
            "550 Sandbox subdomains are for test purposes only.",
            "550 Account has been suspended",
            "535 5.7.0 Mailgun is not loving your login or password",
        ],
    ),
    (
        "SendGrid",
        Account,
        &[
            "550 The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved.",
            "550 Unauthenticated senders not allowed",
            "451 Authentication failed: Maximum credits exceeded",
            "550 You have exceeded your messaging limits",
            "535 Authentication failed: The provided authorization grant is invalid, expired, or revoked",
        ],
    ),
    (
        "others",
        Account,
        &[
            "550 5.7.1 relaying denied to this user",
            "550 relay not permitted for this user",
            "550 Sender address rejected",
            "550 5.1.7 that is no address",
            "554 5.7.1 Your server is on our blocklist",
            "550 5.7.1 You are not allowed to send as hello",
            "550 Daily quota exceeded for user sending mail: hourly limit",
            "550 5.7.1 We do not relay",
            "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
            "550 5.7.1 Sender address blacklisted",
            "550 Requested action not taken: mailbox unavailable. Sender address is not allowed.",
            "550 5.4.6 Unusual sending activity detected. Please try after sometime",
            "525 5.7.1 Unauthorized IP address",
            "554 5.7.1 Your account has been blocked",
            "454 4.7.0 Temporary authentication failure",
            "550 5.7.0 Need to authenticate via SMTP-AUTH-Login",
            "550 5.7.1 Email quota exceeded",
            "550 You have exceeded the maximum number of messages per hour",
            "550 You have reached a limit for sending mail. Your message was not sent",
            "450 4.7.1 Error: too much mail from 192.0.2.1",
            "553 Mail from must equal authorized user",
            "550 5.7.1 Relaying to  denied",
            "550 5.7.1 Unconfigured Sending Domain <oculant.example>",
            "550 5.7.1 Demo domains can only be used to send emails to account owners",
            "550 You can only send testing emails to your own email address",
            "550 Not enough credits",
        ],
    ),
    (
        "others",
        NoSuchAddress,
        &[
            "550 sorry, no mailbox here by that name (#5.1.1)",
            "550 5.2.1 This account has been suspended",
            "551 User not local; please try another",
            "553 mailbox name not allowed",
            "554 5.1.2 no such domain",
        ],
    ),
    (
        "others",
        Mail,
        &[
            "550 5.4.1 no answer from host",
            "552 mailbox exceeds its size",
            "550 You are not allowed to send mail to this address",
            "550 5.7.124 You don't have permission to send to this distribution list",
            "550 mailbox full",
        ],
    ),
    (
        "others",
        Mail,
        &[
            "550 5.6.0 no such content",
            "550 This message was taken for spam by a user",
            "552 no",
            "554 5.7.1 High probability of spam",
        ],
    ),
    (
        "others",
        Unknown,
        &[
            "550 no",
            "550 Administrative prohibition",
            "554 Transaction failed",
            "554 Message not allowed - [PH01] Email not accepted for policy reasons",
            "550 10.5.1.1 knows no reason",
            "550 5.7.1 Access denied",
            "550 5.7.0 Account disabled",
            "550 the trial account unique recipients limit reached",
            "550 Quota exceeded",
        ],
    ),
];

#[test]
fn what_relays_say_of_us_of_a_recipient_and_of_a_mail_is_told_apart() {
    let mut wrong = Vec::new();
    for (relay, refusal, answers) in ANSWERS {
        for answer in *answers {
            let (code, words) = answer.split_once(' ').expect("a code");
            let is = Refusal::of(code.parse().expect("a code"), words, SmtpStage::Recipient);
            if is != *refusal {
                wrong.push(format!("{relay}: {answer}\n  is {is:?}, not {refusal:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_put_off_for_a_recipients_sake_is_not_about_us() {
    for (code, words) in [
        (450, "4.7.1 : Recipient address rejected: Greylisted"),
        (451, "4.7.1 Greylisted, please try again later"),
        (
            450,
            "4.2.1 The user you are trying to contact is receiving mail too quickly.",
        ),
        (
            452,
            "4.2.2 The email account that you tried to reach is over quota",
        ),
        (450, "4.2.0 Mailbox busy"),
        (451, "4.3.0 Queue file write error"),
        (452, "4.5.3 Too many recipients"),
        (451, "Local error in processing"),
    ] {
        let refusal = Refusal::of(code, words, SmtpStage::Recipient);
        assert_ne!(refusal, Account, "{code} {words}");
    }
}

#[test]
fn only_the_answer_to_a_recipient_says_that_there_is_no_such_address() {
    let answer = |stage| Refusal::of(550, "5.1.1 No such user", stage);
    assert_eq!(answer(SmtpStage::Recipient), NoSuchAddress);
    assert_eq!(answer(SmtpStage::Content), Mail);
    assert_eq!(answer(SmtpStage::Sender), Account);
}
