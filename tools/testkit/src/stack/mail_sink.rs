//! Where all mail of a stack ends: an inbox, or a mail server that misbehaves.

use std::path::Path;

use crate::{ChildProcess, Inbox, Mail, MailServer, Ports, ScriptedReply, Shape, mail_server::Behaviour};

pub(super) enum MailSink {
    Inbox(Box<Inbox>),
    Scripted(MailServer),
}

impl MailSink {
    /// Starts it at the stack's ports; an inbox with its files in this folder.
    pub(super) async fn start(shape: Shape, ports: &Ports, folder: &Path) -> anyhow::Result<Self> {
        Ok(match shape.mail {
            Mail::Inbox => {
                let inbox = Inbox::start_at(ports.inbox, ports.smtp, folder).await?;
                Self::Inbox(Box::new(inbox))
            }
            Mail::Scripted => {
                let behaviour = Behaviour {
                    keep: shape.keep,
                    ..Behaviour::default()
                };
                let plan = |_: &str, _| ScriptedReply::Take;
                Self::Scripted(MailServer::start_with(behaviour, ports.smtp, plan).await?)
            }
        })
    }

    pub(super) fn inbox(&self) -> Option<&Inbox> {
        match self {
            Self::Inbox(inbox) => Some(inbox),
            Self::Scripted(_) => None,
        }
    }

    pub(super) fn server(&self) -> Option<&MailServer> {
        match self {
            Self::Inbox(_) => None,
            Self::Scripted(server) => Some(server),
        }
    }

    pub(super) fn process_mut(&mut self) -> Option<&mut ChildProcess> {
        match self {
            Self::Inbox(inbox) => Some(inbox.process_mut()),
            Self::Scripted(_) => None,
        }
    }

    pub(super) async fn stop(self) -> anyhow::Result<()> {
        match self {
            Self::Inbox(inbox) => inbox.stop().await,
            Self::Scripted(_) => Ok(()),
        }
    }
}
