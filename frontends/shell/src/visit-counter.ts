import { onAccepted } from '@site/kit/accepted-event.ts';
import type { components } from '@site/kit/api.gen.ts';
import { attribution } from '@site/kit/attribution.ts';
import type { Metric } from 'web-vitals';
import { onCLS, onINP, onLCP } from 'web-vitals';
import type { PageKind } from './page-kind.ts';
import { pageKindOf } from './page-kind.ts';

type Beacon = components['schemas']['VisitBeacon'];
type FormName = components['schemas']['FormName'];
type Figures = Pick<components['schemas']['Vitals'], 'lcp' | 'inp' | 'cls'>;

/** Counter of what is done on the site while one of its pages is open. */
export interface VisitCounter {
  /** Counts a page that is shown, by its path. */
  pageShown: (path: string) => void;
}

const ADDRESS = '/api/visits';
/** What one beacon may hold: the gateway takes no more (`services/gateway/src/visits/beacon.rs`). */
const MAX_VIEWS = 16;
const MAX_FORMS = 8;
const CAMPAIGN = /^[\w.~-]{1,64}$/;
/** Of a page that stays open for days no more are sent. */
const MAX_BEACONS = 30;

const FORMS: Readonly<Record<string, FormName>> = {
  '/api/contact': 'contact',
  '/api/newsletter': 'newsletter',
  '/api/career-application': 'career-application',
};

/**
 * Counts from now on, and sends it when the page is hidden, which is the last that a page is sure to learn of
 * (https://developer.chrome.com/docs/web-platform/page-lifecycle-api): in one beacon for most visits. Nothing is kept in the
 * browser, and nothing that is sent says who sends it.
 */
export function countVisit(): VisitCounter {
  const pending = createBeacon();
  const begun = new Set<FormName>();
  // A page's figures are those of the one that was loaded, however far its visitor goes on from there.
  let loaded: PageKind | undefined;

  function pageShown(path: string) {
    const page = pageKindOf(path);
    loaded ??= page;
    pending.addView(page);
  }

  function begin(form: FormName) {
    if (!begun.has(form)) {
      begun.add(form);
      pending.add('starts', form);
    }
  }

  // A draft that is put back (`use-draft.ts`) is no visitor's input.
  document.addEventListener('input', ({ isTrusted, target }) => {
    const form = isTrusted && target instanceof Element && target.closest('form');
    const name = form && FORMS[form.getAttribute('action') ?? ''];
    if (name) {
      begin(name);
    }
  });
  onAccepted(path => {
    const name = FORMS[path];
    if (name) {
      // What the browser filled in by itself was not begun by hand.
      begin(name);
      begun.delete(name);
      pending.add('ends', name);
    }
  });
  measure(figures => loaded && pending.addFigures(loaded, figures));
  // On the window, so that it comes after those of web-vitals, which are on the document.
  addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') {
      pending.send();
    }
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) {
      loaded = undefined;
      pageShown(location.pathname);
    }
  });
  return { pageShown };
}

/** Calls back with each figure of a page once: it may change again after the page was hidden. */
function measure(measured: (figures: Figures) => void) {
  const known = new Set<string>();
  const once = (name: keyof Figures, digits: number) => (metric: Metric) => {
    if (!known.has(metric.id)) {
      known.add(metric.id);
      measured({ [name]: Number(metric.value.toFixed(digits)) });
    }
  };
  onLCP(once('lcp', 0));
  onINP(once('inp', 0));
  onCLS(once('cls', 3));
}

/** What is to be sent. */
function createBeacon() {
  const campaign = campaignOf(attribution().utmCampaign);
  let told: Beacon = {};
  let sent = 0;

  function send() {
    if (Object.keys(told).length > 0 && sent < MAX_BEACONS) {
      sent += 1;
      const body = JSON.stringify({ ...campaign, ...told });
      navigator.sendBeacon(ADDRESS, new Blob([body], { type: 'application/json' }));
    }
    told = {};
  }

  return {
    send,
    addView(page: PageKind) {
      told.views = [...(told.views ?? []), page];
      if (told.views.length === MAX_VIEWS) {
        send();
      }
    },
    add(what: 'starts' | 'ends', form: FormName) {
      const forms = [...(told[what] ?? []), form];
      told[what] = forms;
      if (forms.length === MAX_FORMS) {
        send();
      }
    },
    addFigures(page: PageKind, figures: Figures) {
      told.vitals = { ...told.vitals, page, ...figures };
    },
  };
}

/** What is no name of a campaign is sent as none of ours: it could be anything. */
function campaignOf(name: string): Pick<Beacon, 'campaign'> {
  if (!name) {
    return {};
  }
  return { campaign: CAMPAIGN.test(name) ? name : 'other' };
}
