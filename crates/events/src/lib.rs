//! site-events
