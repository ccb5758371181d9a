//! Settings of the services, as environment variables.

use super::{Part, Stack};
use crate::{Hosting, PERSON_KEY, User, helpers, hosting, root};

/// Recipient of sales mails.
pub const SALES_TO: &str = "sales@oculant.example";
/// Recipient of recruiters' mails.
pub const RECRUITERS_TO: &str = "recruiters@oculant.example";

type Variables = Vec<(&'static str, String)>;

impl Stack {
    pub(super) fn env_of(&self, part: &Part) -> Variables {
        let service = part.service();
        let mut env = vec![("LISTEN", format!("127.0.0.1:{}", part.port))];
        env.extend(
            part.health
                .map(|port| ("HEALTH_LISTEN", format!("127.0.0.1:{port}"))),
        );
        env.extend(match service {
            "gateway" => self.env_of_gateway(),
            "contact" => self.env_of_broker(User::Contact),
            "newsletter" => [self.env_of_broker(User::Newsletter), self.token_key()].concat(),
            "careers" => self.env_of_careers(),
            "notifier" => self.env_of_notifier(),
            _ => {
                let folder = hosting::folder_of(part.name).unwrap_or_default();
                vec![("SITE_DIR", folder.display().to_string())]
            }
        });
        if self.shape.observe {
            env.extend(helpers::trace_settings(self.otlp));
        }
        env
    }

    fn env_of_broker(&self, user: User) -> Variables {
        let mut env = self.nats.env(user);
        env.push(("PERSON_KEY", PERSON_KEY.to_owned()));
        env
    }

    fn token_key(&self) -> Variables {
        vec![("TOKEN_KEY", self.token_key.clone())]
    }

    fn env_of_careers(&self) -> Variables {
        let mut env = self.env_of_broker(User::Careers);
        env.extend(self.s3.env());
        env.push(("SPOOL_DIR", self.spool.display().to_string()));
        env
    }

    fn env_of_notifier(&self) -> Variables {
        let mut env = [self.env_of_broker(User::Notifier), self.token_key()].concat();
        env.extend(self.s3.env());
        env.extend([
            ("WEBHOOKS", self.webhooks.clone()),
            ("WEBHOOKS_ALLOW_PRIVATE", "true".to_owned()),
            ("SMTP_HOST", "127.0.0.1".to_owned()),
            ("SMTP_PORT", self.ports.smtp.to_string()),
            ("SMTP_TLS", "none".to_owned()),
            ("SITE_URL", self.site()),
            ("BRAND_FILE", root().join("brand.json").display().to_string()),
            ("SALES_TO", SALES_TO.to_owned()),
            ("RECRUITERS_TO", RECRUITERS_TO.to_owned()),
            ("MAIL_FROM", "Oculant <hello@oculant.example>".to_owned()),
            ("ALLOW_EXAMPLE_ADDRESSES", "true".to_owned()),
        ]);
        env
    }

    fn env_of_gateway(&self) -> Variables {
        let mut env = vec![
            ("CONTACT_URL", self.url_of("contact")),
            ("NEWSLETTER_URL", self.url_of("newsletter")),
            ("CAREERS_URL", self.url_of("careers")),
            // Lets a test act as many visitors.
            ("VISITOR_ADDRESS_FROM", "x-forwarded-for".to_owned()),
        ];
        let site = root().join("frontends/dist");
        match self.shape.hosting {
            Hosting::Cluster => env.push(("PAGES_URL", self.url_of("web-shell"))),
            Hosting::Gateway if site.exists() => env.push(("SITE_DIR", site.display().to_string())),
            Hosting::Gateway | Hosting::Nobody => {}
        }
        env
    }
}
