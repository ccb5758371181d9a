// Reads an entered e-mail address. Rules and messages repeat the server's (`crates/visitor/src/email.rs`), so
// that visitors see an error before they submit.

/** Providers whose domains are often shortened or mistyped. */
const PROVIDERS = [
  'gmail.com',
  'hotmail.com',
  'outlook.com',
  'yahoo.com',
  'icloud.com',
  'protonmail.com',
  'rediffmail.com',
  'live.com',
  'aol.com',
  'web.de',
];
/** Real providers that look like a typo of a provider above. */
const NEAR_PROVIDERS = ['mail.com', 'email.com', 'ymail.com'];
/** Shortest provider name whose typos are recognised. A typo of a shorter name may be a real name. */
const LEAST_SLIP_LENGTH = 'gmail'.length;

/** Invisible characters (`crates/visitor/src/invisible.rs`), except joiners, which some languages need. */
const INVISIBLE = /(?![\u200c\u200d])[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;
const JOINERS = /[\u200c\u200d]/g;
const FULL_WIDTH = /[\uff01-\uff5e]/g;
/** Syntax of recipient lists after and around an address. */
const LIST_END = /[\s,;]+$/;
const NAMED = /^[^<>]*<([^<>]+)>$|^[^[\]]*\[([^[\]]+)\]$/;
/** Quotes and brackets around an address in a sentence. */
const QUOTED = /^["'(“‘«](.+)["')”’»]$/;
const LINK = /^mailto:\/*([^?]*)/i;

/** Undeliverable addresses that browsers accept. */
const UNMAILABLE = /^\.|\.\.|\.@|^[^@]{65}/;
const NO_ADDRESS = 'Enter an e-mail address such as name@company.com.';
const NO_ENDING = 'Enter the whole e-mail address, with its ending: name@company.com.';
const OTHER_SCRIPT =
  'Enter an e-mail address with plain letters (a to z) before the @. We cannot write to one with other letters there.';

/** Extracts the address from pasted text, such as `Name <address>` or a `mailto:` link (RFC 6068). */
export function addressIn(text: string): string {
  const visible = text
    .replace(INVISIBLE, '')
    .replace(FULL_WIDTH, character => String.fromCharCode(character.charCodeAt(0) - 0xfee0))
    .trim()
    .replace(LIST_END, '');
  const address = inside(NAMED, inside(QUOTED, visible));
  const link = LINK.exec(address)?.[1];
  const bare = link === undefined ? address : decoded(link);
  const withoutJoiners = bare.replace(JOINERS, '');
  const found = isAscii(withoutJoiners) ? withoutJoiners : bare;
  return found.includes('@') ? found : text;
}

/**
 * Converts the domain to ASCII (UTS 46), because some browsers accept only such domains. Removes the full
 * stop of a sentence that ends with the address.
 */
export function withAsciiDomain(entered: string): string {
  const address = entered.replace(/\.$/, '');
  const [localPart, domain] = parts(address);
  const url = `http://${domain}`;
  return !isAscii(domain) && !/[\s/\\?#:]/.test(domain) && URL.canParse(url)
    ? `${localPart}@${new URL(url).hostname}`
    : address;
}

/** Error message of an address; undefined if it is valid, or if the browser reports the error. */
export function addressErrorOf(address: string): string | undefined {
  if (UNMAILABLE.test(address)) {
    return NO_ADDRESS;
  }
  const [localPart, domain] = parts(withAsciiDomain(address));
  if (!(localPart && domain)) {
    return undefined;
  }
  if (!isAscii(localPart)) {
    return OTHER_SCRIPT;
  }
  if (/\../.test(domain)) {
    return undefined;
  }
  const provider = suggestedDomain(address);
  return provider ? questionOf(provider) : NO_ENDING;
}

/** Domain of the provider that the visitor probably means. */
export function suggestedDomain(address: string): string | undefined {
  const [localPart, domain] = parts(address);
  const written = domain.toLowerCase().replace(/\.$/, '');
  const isReal = [...PROVIDERS, ...NEAR_PROVIDERS].some(
    provider => written === provider || (isNear(provider) && written === nameOf(provider)),
  );
  if (!(localPart && written) || isReal) {
    return undefined;
  }
  return PROVIDERS.find(
    provider =>
      written === nameOf(provider) ||
      (nameOf(provider).length >= LEAST_SLIP_LENGTH &&
        (isSlip(written, provider) || isSlip(written, nameOf(provider)))),
  );
}

export function atDomain(address: string, domain: string): string {
  return `${parts(address)[0]}@${domain}`;
}

export function questionOf(domain: string): string {
  return `Did you mean ${domain}?`;
}

function isNear(provider: string): boolean {
  return NEAR_PROVIDERS.includes(provider);
}

function nameOf(provider: string): string {
  return provider.slice(0, provider.indexOf('.'));
}

/** Whether one character is missing, added or wrong, or two neighbours are swapped. */
function isSlip(written: string, name: string): boolean {
  let start = 0;
  while (start < name.length && written[start] === name[start]) {
    start += 1;
  }
  const [ours, theirs] = [written.slice(start), name.slice(start)];
  const isSwapped = ours[0] === theirs[1] && ours[1] === theirs[0];
  return (
    ours.slice(1) === theirs ||
    ours === theirs.slice(1) ||
    ours.slice(1) === theirs.slice(1) ||
    (isSwapped && ours.slice(2) === theirs.slice(2))
  );
}

function parts(address: string): [localPart: string, domain: string] {
  const at = address.lastIndexOf('@');
  return at < 0 ? [address, ''] : [address.slice(0, at), address.slice(at + 1)];
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

/** First non-empty group of the expression, or the whole text if nothing matches. */
function inside(expression: RegExp, text: string): string {
  const found = expression.exec(text)?.slice(1).find(Boolean);
  return found?.trim() ?? text;
}

/** Percent-decodes a link (RFC 3986, 2.1). Malformed links stay unchanged. */
function decoded(link: string): string {
  try {
    return decodeURIComponent(link);
  } catch {
    return link;
  }
}
