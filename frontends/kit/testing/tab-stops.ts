declare global {
  interface Window {
    tabStops: Element[];
  }
}

/** The focused element: its index among the tab stops (-1 if it is none), and whether people can see it. */
interface FocusedStop {
  stop: number;
  hasFocusRing: boolean;
  isInView: boolean;
}

/** Runs in the page. Records the visible tab stops in document order, and returns their number. */
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

/** Runs in the page. */
export function focusedStop(): FocusedStop {
  const { activeElement } = document;
  const element = activeElement ?? document.body;
  const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(element);
  const { left, top, right, bottom } = element.getClientRects()[0] ?? new DOMRect();
  // A large element need not be completely in view (WCAG 2.2, 2.4.11).
  const isInView = [
    [left + 1, top + 1] as const,
    [(left + right) / 2, (top + bottom) / 2] as const,
    [right - 1, bottom - 1] as const,
  ].some(([x, y]) => {
    const shown = document.elementFromPoint(x, y);
    return shown !== null && (element.contains(shown) || shown.contains(element));
  });
  // A focus ring is hidden if all its sides lie outside an ancestor that clips its overflow.
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
