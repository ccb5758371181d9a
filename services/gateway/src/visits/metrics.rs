//! Metrics of visits. Each value of a label is one of a fixed list, and what a beacon told at once is counted one by one.

use std::num::NonZeroU32;

use opentelemetry::{
    KeyValue, StringValue,
    metrics::{Counter, Histogram},
};
use site_service::metrics;

use super::{
    beacon::{Beacon, FormName, PageKind, Vitals},
    settings::{Campaign, NO_CAMPAIGN, OTHER_CAMPAIGN},
};

/// Around what Google calls good and poor (2.5 and 4 seconds), so that the 75th percentile is told to some tenths.
const LCP_BUCKETS_SECONDS: [f64; 16] = [
    0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0, 6.0, 10.0, 20.0,
];
/// Around 200 and 500 milliseconds.
const INP_BUCKETS_SECONDS: [f64; 14] = [
    0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0, 2.0,
];
/// Around 0.1 and 0.25.
const CLS_BUCKETS: [f64; 11] = [0.0, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.5, 1.0];
/// What is beyond is no page's figure.
const MAX_LCP_SECONDS: f64 = 60.0;
const MAX_INP_SECONDS: f64 = 10.0;
const MAX_CLS: f64 = 10.0;
const MILLISECONDS_PER_SECOND: f64 = 1000.0;

/// What came of a beacon.
#[derive(Debug, Clone, Copy)]
pub enum BeaconOutcome {
    /// It is in the figures.
    Counted,
    /// Another one of so many is counted.
    Skipped,
    /// More came than are counted.
    Dropped,
    /// It was none.
    Refused,
}

impl BeaconOutcome {
    const ALL: [Self; 4] = [Self::Counted, Self::Skipped, Self::Dropped, Self::Refused];

    fn label(self) -> KeyValue {
        let name = match self {
            Self::Counted => "counted",
            Self::Skipped => "skipped",
            Self::Dropped => "dropped",
            Self::Refused => "refused",
        };
        KeyValue::new("outcome", name)
    }
}

/// Metrics of visits.
pub struct VisitMetrics {
    beacons: Counter<u64>,
    page_views: Counter<u64>,
    form_starts: Counter<u64>,
    form_ends: Counter<u64>,
    lcp: Histogram<f64>,
    inp: Histogram<f64>,
    cls: Histogram<f64>,
    campaigns: Vec<StringValue>,
    /// For how many beacons each one counts.
    weight: u64,
}

impl VisitMetrics {
    /// Metrics by these campaigns, each beacon of which stands for so many.
    pub fn new(campaigns: &[Campaign], one_in: NonZeroU32) -> Self {
        let meter = metrics::meter();
        let counter = |name, unit, description| {
            let counter = meter.u64_counter(name).with_unit(unit);
            counter.with_description(description).build()
        };
        let lcp = "Largest Contentful Paint of pages, as browsers measured it";
        let inp = "Interaction to Next Paint of pages, as browsers measured it";
        let metrics = Self {
            beacons: counter(
                "site.visit.beacons",
                "{beacon}",
                "What browsers sent about visits",
            ),
            page_views: counter("site.page.views", "{view}", "Pages that were shown"),
            form_starts: counter(
                "site.form.starts",
                "{form}",
                "Forms that somebody began to fill in",
            ),
            form_ends: counter(
                "site.form.ends",
                "{form}",
                "Forms that were accepted, as browsers tell",
            ),
            lcp: metrics::seconds_histogram("site.web_vitals.lcp", lcp, &LCP_BUCKETS_SECONDS),
            inp: metrics::seconds_histogram("site.web_vitals.inp", inp, &INP_BUCKETS_SECONDS),
            cls: meter
                .f64_histogram("site.web_vitals.cls")
                .with_unit("1")
                .with_description("Cumulative Layout Shift of pages, as browsers measured it")
                .with_boundaries(CLS_BUCKETS.to_vec())
                .build(),
            campaigns: campaigns.iter().map(|campaign| campaign.name().into()).collect(),
            weight: one_in.get().into(),
        };
        metrics.count_none();
        metrics
    }

    /// Whoever watches sees the first of each only as an increase over none.
    fn count_none(&self) {
        for outcome in BeaconOutcome::ALL {
            self.beacons.add(0, &[outcome.label()]);
        }
        let others = [NO_CAMPAIGN, OTHER_CAMPAIGN].map(StringValue::from);
        for campaign in self.campaigns.iter().chain(&others) {
            for page in PageKind::ALL {
                self.page_views.add(0, &page_view(*page, campaign));
            }
        }
        for form in FormName::ALL {
            self.form_starts.add(0, &[form_label(*form)]);
            self.form_ends.add(0, &[form_label(*form)]);
        }
    }

    /// Counts what came of one.
    pub fn count_beacon(&self, outcome: BeaconOutcome) {
        self.beacons.add(1, &[outcome.label()]);
    }

    /// Counts all that one tells.
    pub fn count(&self, beacon: &Beacon) {
        let campaign = self.campaign(beacon.campaign.as_deref());
        for page in &beacon.views {
            self.page_views.add(self.weight, &page_view(*page, &campaign));
        }
        for form in &beacon.starts {
            self.form_starts.add(self.weight, &[form_label(*form)]);
        }
        for form in &beacon.ends {
            self.form_ends.add(self.weight, &[form_label(*form)]);
        }
        if let Some(vitals) = &beacon.vitals {
            self.count_vitals(vitals);
        }
    }

    fn count_vitals(&self, vitals: &Vitals) {
        let page = [page_label(vitals.page)];
        let seconds = |milliseconds: Option<f64>, most| {
            milliseconds.map(|value| (value / MILLISECONDS_PER_SECOND).clamp(0.0, most))
        };
        let all = [
            (&self.lcp, seconds(vitals.lcp, MAX_LCP_SECONDS)),
            (&self.inp, seconds(vitals.inp, MAX_INP_SECONDS)),
            (&self.cls, vitals.cls.map(|value| value.clamp(0.0, MAX_CLS))),
        ];
        for (histogram, value) in all {
            if let Some(value) = value {
                histogram.record(value, &page);
            }
        }
    }

    fn campaign(&self, told: Option<&str>) -> StringValue {
        let Some(told) = told else {
            return NO_CAMPAIGN.into();
        };
        let known = self.campaigns.iter().find(|known| known.as_str() == told);
        known.cloned().unwrap_or_else(|| OTHER_CAMPAIGN.into())
    }
}

fn page_view(page: PageKind, campaign: &StringValue) -> [KeyValue; 2] {
    [page_label(page), KeyValue::new("campaign", campaign.clone())]
}

fn page_label(page: PageKind) -> KeyValue {
    KeyValue::new("page", page.name())
}

fn form_label(form: FormName) -> KeyValue {
    KeyValue::new("form", form.name())
}
