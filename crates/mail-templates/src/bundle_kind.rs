//! The kinds of bundles: which mails go out several in one, beyond a rate.

use site_events::Channel;

/// What a bundle is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleKind {
    /// Contact messages, for sales.
    Leads,
    /// Applications, for the recruiters.
    Applications,
}

impl BundleKind {
    /// Every kind there is.
    pub const ALL: [Self; 2] = [Self::Leads, Self::Applications];

    /// The kind for a channel's mails; none where they are never bundled.
    pub fn of(channel: Channel) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.channel() == channel)
    }

    /// The channel whose mails they are.
    pub fn channel(self) -> Channel {
        match self {
            Self::Leads => Channel::SalesLead,
            Self::Applications => Channel::RecruiterApplication,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_to_visitors_is_never_bundled() {
        for channel in Channel::ALL {
            assert_eq!(BundleKind::of(channel).is_none(), channel.is_to_visitor());
        }
    }
}
