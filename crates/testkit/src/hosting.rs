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
    router: PathRouter,
}

/// The front ends' servers.
pub(crate) const WEB: [&str; 3] = ["web-shell", "web-blog", "web-careers"];

impl Ingress {
    /// Starts the router at the site's port. The parts behind it get free ones.
    pub async fn open(site: u16) -> anyhow::Result<Self> {
        let [gateway, shell, blog, careers] = free_ports()?;
        let rules: [Rule; 6] = [
            ("/api", gateway),
            ("/livez", gateway),
            ("/readyz", gateway),
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
            router: PathRouter::start_at(site, rules.into()).await?,
        })
    }

    /// The port of a part behind it.
    pub fn port_of(&self, name: &str) -> Option<u16> {
        let part = self.parts.iter().find(|(part, _)| *part == name);
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
