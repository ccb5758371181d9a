// How an address that somebody enters is read. The rules and sentences are the server's (`crates/visitor/src/email.rs`), so that
// nobody learns of them only there.

/** Providers of mailboxes whose names are often cut short or mistyped. */
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
/** Providers whose names are as near to one of those as a slip is. */
const NEAR_PROVIDERS = ['mail.com', 'email.com', 'ymail.com'];
/** In shorter names a slip makes another name that there is. */
const LEAST_SLIP_LENGTH = 'gmail'.length;

/** What nobody sees (`crates/visitor/src/invisible.rs`), but for the joiners that some scripts spell words by. */
const INVISIBLE = /(?![\u200c\u200d])[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;
const JOINERS = /[\u200c\u200d]/g;
const FULL_WIDTH = /[\uff01-\uff5e]/g;
/** What lists of recipients have behind an address, and around it. */
const LIST_END = /[\s,;]+$/;
const NAMED = /^[^<>]*<([^<>]+)>$|^[^[\]]*\[([^[\]]+)\]$/;
/** What sentences have around an address. */
const QUOTED = /^["'(“‘«](.+)["')”’»]$/;
const LINK = /^mailto:\/*([^?]*)/i;

/** What a browser takes as an address and no mail can go to. */
const UNMAILABLE = /^\.|\.\.|\.@|^[^@]{65}/;
const NO_ADDRESS = 'Enter an e-mail address such as name@company.com.';
const NO_ENDING = 'Enter the whole e-mail address, with its ending: name@company.com.';
const OTHER_SCRIPT =
  'Enter an e-mail address with plain letters (a to z) before the @. We cannot write to one with other letters there.';

/** The address in what was pasted: `Name <address>`, a `mailto:` link (RFC 6068), or with invisible characters in it. */
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
 * The address with its domain as mail is sent to it (UTS 46), for browsers that take no other, and without the full stop of a
 * sentence that it ended.
 */
export function withAsciiDomain(entered: string): string {
  const address = entered.replace(/\.$/, '');
  const [localPart, domain] = parts(address);
  const url = `http://${domain}`;
  return !isAscii(domain) && !/[\s/\\?#:]/.test(domain) && URL.canParse(url)
    ? `${localPart}@${new URL(url).hostname}`
    : address;
}

/** What is wrong with an address, in a sentence; nothing, where it may be sent or the browser says it by itself. */
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

/** The provider's domain that is probably meant, where the address has another one. */
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

/** The address at another domain. */
export function atDomain(address: string, domain: string): string {
  return `${parts(address)[0]}@${domain}`;
}

/** Asks whether a domain is meant. */
export function questionOf(domain: string): string {
  return `Did you mean ${domain}?`;
}

function isNear(provider: string): boolean {
  return NEAR_PROVIDERS.includes(provider);
}

function nameOf(provider: string): string {
  return provider.slice(0, provider.indexOf('.'));
}

/** Whether something is a name with one character too few, too many or wrong, or with two of them swapped. */
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

/** What stands before the last `@`, and behind it. */
function parts(address: string): [localPart: string, domain: string] {
  const at = address.lastIndexOf('@');
  return at < 0 ? [address, ''] : [address.slice(0, at), address.slice(at + 1)];
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

/** What an expression finds within a text; the text where it finds nothing. */
function inside(expression: RegExp, text: string): string {
  const found = expression.exec(text)?.slice(1).find(Boolean);
  return found?.trim() ?? text;
}

/** Links have some characters in another form (RFC 3986, 2.1). */
function decoded(link: string): string {
  try {
    return decodeURIComponent(link);
  } catch {
    return link;
  }
}
