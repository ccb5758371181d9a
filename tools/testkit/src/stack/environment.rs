//! The settings of each service of a stack, as environment variables.

use super::{SERVICES, Stack, service_of};
use crate::{Hosting, hosting, root};

/// Whom a stack's mails to sales are for.
pub const SALES_TO: &str = "sales@oculant.example";
/// Whom a stack's mails to the recruiters are for.
pub const RECRUITERS_TO: &str = "recruiters@oculant.example";

type Variables = Vec<(String, String)>;

fn variables(pairs: &[(&str, &str)]) -> Variables {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}

fn at(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

impl Stack {
    pub(super) fn env_of(&self, part: &str) -> Variables {
        let name = service_of(part);
        let mut env = variables(&[("LISTEN", &format!("127.0.0.1:{}", self.port_of(part)))]);
        if let Some(port) = self.health_port_of(name) {
            env.extend(variables(&[("HEALTH_LISTEN", &format!("127.0.0.1:{port}"))]));
        }
        if let Some(folder) = hosting::folder_of(name) {
            env.extend(variables(&[("SITE_DIR", &folder.to_string_lossy())]));
        }
        if SERVICES.contains(&name) && name != "gateway" {
            env.extend(self.env_of_the_broker(name));
        }
        if name == "newsletter" || name == "notifier" {
            env.extend(variables(&[("TOKEN_KEY", &self.settings.token_key)]));
        }
        if name == "careers" || name == "notifier" {
            env.extend(self.s3.env().map(|(name, value)| (name.to_owned(), value)));
        }
        if name == "careers" {
            env.extend(variables(&[("SPOOL_DIR", &self.spool().to_string_lossy())]));
        }
        match name {
            "notifier" => env.extend(self.env_of_the_notifier()),
            "gateway" => env.extend(self.env_of_the_gateway()),
            _ => {}
        }
        if let Some(certificates) = &self.certificates {
            env.extend(certificates.env_of(name));
        }
        if let Some(viewer) = &self.viewer {
            env.extend(viewer.env().map(|(name, value)| (name.to_owned(), value)));
        }
        env.extend(self.settings.extra_env.iter().cloned());
        env
    }

    fn env_of_the_broker(&self, name: &str) -> Variables {
        variables(&[
            ("NATS_URL", &self.nats.url()),
            ("NATS_USER", name),
            ("NATS_PASSWORD", self.nats.password()),
            ("PERSON_KEY", &self.settings.person_key),
        ])
    }

    fn env_of_the_notifier(&self) -> Variables {
        variables(&[
            ("WEBHOOKS", &self.settings.webhooks),
            ("WEBHOOKS_ALLOW_PRIVATE", "true"),
            ("SMTP_HOST", "127.0.0.1"),
            ("SMTP_PORT", &self.ports.smtp.to_string()),
            ("SMTP_TLS", "none"),
            ("SITE_URL", &self.site()),
            ("BRAND_FILE", &root().join("brand.json").to_string_lossy()),
            ("SALES_TO", SALES_TO),
            ("RECRUITERS_TO", RECRUITERS_TO),
            // Whoever awaits a mail looks for that of its event; a run's load would have it bundled.
            ("STAFF_MAILS_PER_HOUR", "0"),
            ("MAIL_FROM", "Oculant <hello@oculant.example>"),
        ])
    }

    fn env_of_the_gateway(&self) -> Variables {
        // So that tests can play many visitors; the router of a cluster is one proxy more.
        let proxies = if self.ingress.is_some() { "2" } else { "1" };
        let service = |port| match self.certificates {
            Some(_) => format!("https://127.0.0.1:{port}"),
            None => at(port),
        };
        let mut env = variables(&[
            ("CONTACT_URL", &service(self.ports.contact)),
            ("NEWSLETTER_URL", &service(self.ports.newsletter)),
            ("CAREERS_URL", &service(self.ports.careers)),
            ("TRUSTED_PROXIES", proxies),
        ]);
        let site = root().join("frontends/dist");
        match self.settings.hosting {
            Hosting::Cluster => env.extend(variables(&[("PAGES_URL", &at(self.port_of("web-shell")))])),
            Hosting::Gateway if site.exists() => {
                env.extend(variables(&[("SITE_DIR", &site.to_string_lossy())]));
            }
            Hosting::Gateway | Hosting::Nobody => {}
        }
        env
    }
}
