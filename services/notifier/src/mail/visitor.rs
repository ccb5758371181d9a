//! The visitor in a mail: recipient, Reply-To and origin.

use lettre::{Address, message::Mailbox};
use minijinja::{Value, context};
use site_events::{Attribution, EventData};
use visitor::EmailAddress;

use super::{context::MailContext, error::MailError, name::PlainName, wording};

/// The visitor as recipient. The name is left out unless it is a [`PlainName`].
pub fn visitor(name: Option<PlainName>, email: &EmailAddress) -> Result<Mailbox, MailError> {
    let address: Address = email.as_str().parse().map_err(|_| MailError::Address)?;
    Ok(Mailbox::new(name.map(String::from), address))
}

/// The visitor as Reply-To; none if lettre rejects the address.
pub fn answer_to(name: &str, email: &EmailAddress) -> Option<Mailbox> {
    let address = email.as_str().parse().ok()?;
    Some(Mailbox::new(Some(wording::one_line(name)), address))
}

pub fn ours(context: &MailContext, address: &Address) -> Mailbox {
    Mailbox::new(Some(context.brand.name.clone()), address.clone())
}

/// The fields of a form with their labels, in the form's order. Empty fields have no value.
pub fn fields<D: EventData>(data: &D) -> Result<Vec<Value>, serde_json::Error> {
    let data = serde_json::to_value(data)?;
    let fields = D::TYPE.form_fields().iter();
    let values = fields.map(|&(name, label)| context! { name, label, value => data[name].as_str() });
    Ok(values.collect())
}

pub fn origin(attribution: Option<&Attribution>) -> Value {
    attribution.map_or_else(
        || Value::from(()),
        |attribution| {
            context! {
                page => attribution.page.as_deref(),
                referrer => attribution.referrer.as_deref(),
                campaign => attribution.campaign(),
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use lettre::Message;
    use proptest::prelude::*;

    use super::*;

    /// Strings that some rules for addresses accept and others may reject.
    fn look_alikes() -> impl Strategy<Value = String> {
        prop_oneof![
            r"[a-z.]{1,6}@[a-z0-9.-]{1,8}",
            r"[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{1,70}@[a-zA-Z0-9-]{1,64}(\.[a-zA-Z0-9-]{1,9}){0,3}",
            r#"["a-zü .]{1,8}@(\[[0-9.:]{1,9}\]|[0-9.]{1,9}|xn--[a-z0-9-]{0,5}|[a-zü.]{1,5})"#,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn every_accepted_address_makes_a_mailbox(
            raw in look_alikes(),
            name in any::<String>(),
        ) {
            let Ok(email) = EmailAddress::parse(&raw) else {
                return Ok(());
            };
            let to = visitor(PlainName::parse(&name), &email);
            prop_assert!(to.is_ok(), "{raw} is no address");
            let to = to.expect("it is one");
            prop_assert_eq!(to.to_string().parse::<Mailbox>().map(|read| read.email), Ok(to.email.clone()));
            prop_assert!(answer_to(&name, &email).is_some());
            let message = Message::builder()
                .from("sales@example.com".parse().expect("a mailbox"))
                .to(to.clone())
                .body(String::new());
            let envelope = message.map(|message| message.envelope().to().to_vec());
            prop_assert_eq!(envelope.ok(), Some(vec![to.email]), "{} is no header", raw);
        }
    }
}
