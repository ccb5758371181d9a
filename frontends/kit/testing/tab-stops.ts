declare global {
  interface Window {
    tabStops: Element[];
  }
}

/** What has the focus: the number of the stop from 0, -1 if it is none, and whether a person sees it. */
interface FocusedStop {
  stop: number;
  hasFocusRing: boolean;
  isInView: boolean;
}

/** Notes everything that is shown and can be pressed, in the document's order, and says how much it is. Runs in the page. */
export function noteTabStops(): number {
  window.tabStops = Array.from(
    document.querySelectorAll('a[href], button, input, textarea, summary, [tabindex="0"]'),
  ).filter(
    element =>
      element.checkVisibility({ visibilityProperty: true }) &&
      !element.matches(':disabled, [tabindex="-1"], [inert] *'),
  );
  return window.tabStops.length;
}

/** Which of what was noted has the focus. Runs in the page. */
export function focusedStop(): FocusedStop {
  const { activeElement } = document;
  const element = activeElement ?? document.body;
  const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(element);
  const { left, top, right, bottom } = element.getClientRects()[0] ?? new DOMRect();
  // What is large need not be seen as a whole (WCAG 2.2, 2.4.11).
  const isInView = [
    [left + 1, top + 1] as const,
    [(left + right) / 2, (top + bottom) / 2] as const,
    [right - 1, bottom - 1] as const,
  ].some(([x, y]) => {
    const shown = document.elementFromPoint(x, y);
    return shown !== null && (element.contains(shown) || shown.contains(element));
  });
  // What hides what overflows cuts off a ring that lies outside of it on every side.
  const reach = Number.parseFloat(outlineOffset) + Number.parseFloat(outlineWidth);
  let isCut = false;
  for (let around = element.parentElement; around; around = around.parentElement) {
    const edge = around.getBoundingClientRect();
    isCut ||=
      getComputedStyle(around).overflow !== 'visible' &&
      around !== document.documentElement &&
      left - reach < edge.left &&
      top - reach < edge.top &&
      right + reach > edge.right &&
      bottom + reach > edge.bottom;
  }
  return {
    stop: window.tabStops.indexOf(element),
    hasFocusRing: outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 && !isCut,
    isInView,
  };
}
