/** Runs in the page. Wraps each text in two elements, as Chrome's translator does. */
export function translatePage(): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const all: Node[] = [];
  while (texts.nextNode()) {
    all.push(texts.currentNode);
  }
  const isShown = ({ textContent, parentElement }: Node) =>
    textContent?.trim() && !parentElement?.matches('script, style');
  for (const text of all.filter(isShown)) {
    const [outer, inner] = [document.createElement('font'), document.createElement('font')];
    text.parentNode?.replaceChild(outer, text);
    outer.append(inner);
    inner.append(text);
  }
}
