export function sharesOf(address: string, title: string) {
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

/** Encodes spaces as %20, because some social networks do not decode a plus sign. */
function url(base: string, parameters: Record<string, string>): string {
  const pairs = Object.entries(parameters).map(
    ([name, value]) => `${name}=${encodeURIComponent(value)}`,
  );
  return `${base}?${pairs.join('&')}`;
}
