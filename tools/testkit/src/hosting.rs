//! Hosting of the front ends as in a cluster: an ingress, and a server for each behind it.

use std::path::PathBuf;

use crate::{
    path_router::{PathRouter, Rule},
    ports::free_ports,
    root,
};

/// Ingress of a cluster: the router by path, before the gateway and a server for each front end.
pub(crate) struct Ingress {
    /// Name and port of each part behind the router.
    parts: [(&'static str, u16); 4],
    /// Where each front end's server answers for its health.
    healths: [(&'static str, u16); 3],
    router: PathRouter,
}

/// The front ends' servers.
pub(crate) const WEB: [&str; 3] = ["web-shell", "web-blog", "web-careers"];

impl Ingress {
    /// Starts the router at the site's port. The parts behind it get free ones.
    pub async fn open(site: u16) -> anyhow::Result<Self> {
        let [gateway, shell, blog, careers] = free_ports()?;
        let [shell_health, blog_health, careers_health] = free_ports()?;
        let rules: [Rule; 4] = [
            ("/api", gateway),
            ("/remotes/blog", blog),
            ("/remotes/careers", careers),
            ("/", shell),
        ];
        let [web_shell, web_blog, web_careers] = WEB;
        Ok(Self {
            parts: [
                ("gateway", gateway),
                (web_shell, shell),
                (web_blog, blog),
                (web_careers, careers),
            ],
            healths: [
                (web_shell, shell_health),
                (web_blog, blog_health),
                (web_careers, careers_health),
            ],
            router: PathRouter::start_at(site, rules.into()).await?,
        })
    }

    /// The port of a part behind it.
    pub fn port_of(&self, name: &str) -> Option<u16> {
        let part = self.parts.iter().find(|(part, _)| *part == name);
        part.map(|(_, port)| *port)
    }

    /// The port at which a front end's server answers for its health.
    pub fn health_port_of(&self, name: &str) -> Option<u16> {
        let part = self.healths.iter().find(|(part, _)| *part == name);
        part.map(|(_, port)| *port)
    }

    /// Closes it to the visitors.
    pub async fn close(self) -> anyhow::Result<()> {
        self.router.stop().await
    }
}

/// The folder that a front end's server serves.
pub(crate) fn folder_of(web: &str) -> Option<PathBuf> {
    let front_end = web.strip_prefix("web-")?;
    Some(root().join("frontends/dist.split").join(front_end))
}
