/** Share target: a network or mail, by which readers pass an article on. */
export interface Share {
  name: string;
  url: string;
}

/** Share targets of the article at an address, in the order of the buttons. */
export function sharesOf(address: string, title: string): readonly Share[] {
  return [
    { name: 'Facebook', url: url('https://www.facebook.com/sharer/sharer.php', { u: address }) },
    {
      name: 'Twitter',
      url: url('https://twitter.com/intent/tweet', { url: address, text: title }),
    },
    {
      name: 'LinkedIn',
      url: url('https://www.linkedin.com/sharing/share-offsite/', { url: address, title }),
    },
  ];
}

/** With spaces as %20: not everyone reads a plus as one. */
function url(base: string, parameters: Record<string, string>): string {
  const pairs = Object.entries(parameters).map(
    ([name, value]) => `${name}=${encodeURIComponent(value)}`,
  );
  return `${base}?${pairs.join('&')}`;
}
