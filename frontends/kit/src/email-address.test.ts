import { expect, test } from 'vitest';
import {
  addressErrorOf,
  addressIn,
  atDomain,
  suggestedDomain,
  withAsciiDomain,
} from './email-address.ts';

test.each([
  '\u200basha@example.com\u200b',
  '\ufeffasha@example.com\u2060',
  '\u202aasha@example.com\u202c',
  '\u202easha@example.com\u202d',
  '\u200easha@exam\u00adple.com\u200f',
  '\u2068asha@example.com\u2069\r\n',
  'as\u200dha@example.com\ufe0f',
  '\u00a0asha@example.com\u3000',
  '\tasha@example.com\u000b',
  'asha@example.com\u0000',
  'Asha Rao <asha@example.com>',
  '"Rao, Asha (Sales)" <asha@example.com>;',
  'Zoë <asha@example.com>, ',
  '<asha@example.com>',
  '< asha@example.com >',
  'asha@example.com <asha@example.com>',
  'asha@example.com,',
  '(asha@example.com)',
  "'asha@example.com'",
  '“asha@example.com”;',
  'Asha Rao [mailto:asha@example.com]',
  'Asha [Sales] <asha@example.com>',
  'mailto:asha@example.com',
  'MAILTO:asha@example.com?subject=Two%20cameras',
  'mailto://asha@example.com',
  'mailto:%61sha%40example.com',
  'Asha <mailto:asha@example.com?subject=x>',
  'ａｓｈａ＠ｅｘａｍｐｌｅ．ｃｏｍ',
])('the address is found in %j', pasted => {
  expect(addressIn(pasted)).toBe('asha@example.com');
});

test.each([
  'asha@example.com',
  'a.b+tag@sub.example.co.in',
  "o'hara@example.com",
  'user@müller.example',
  'user@نامه\u200cای.example',
  'Asha <asha@example.com>, Zoë <zoe@example.org>',
  'as ha@example.com',
  'Asha <asha>',
  'mailto:',
  'a%40b',
  '',
])('%j stays unchanged', text => {
  expect(addressIn(text)).toBe(text);
});

test.each([
  ['user@müller.example', 'user@xn--mller-kva.example'],
  ['user@пример.example', 'user@xn--e1afmkfd.example'],
  ['user@例え。テスト', 'user@xn--r8jz45g.xn--zckzah'],
  ['user@MÜLLER.example', 'user@xn--mller-kva.example'],
  ['user@company.example.', 'user@company.example'],
])('%s is sent as %s', (address, sent) => {
  expect(withAsciiDomain(address)).toBe(sent);
  expect(addressErrorOf(address)).toBeUndefined();
});

// A deliverable address must never be refused.
test.each([
  'a.b@x.com',
  `${'a'.repeat(64)}@x.com`,
  'asha@gmail.com',
  'asha@gmail.co.uk',
  'asha@yahoo.co.in',
  'asha@mail.com',
  'asha@ymail.com',
  'asha@t-online.de',
  'asha@love.com',
  'asha@gmial.com',
  'asha@hotmail.con',
  'asha@xn--mller-kva.example',
  'asha',
  'asha@',
  '',
])('%j is accepted, or left to the browser’s own validation', address => {
  expect(addressErrorOf(address)).toBeUndefined();
});

test.each(['a..b@x.com', '.a@x.com', 'a.@x.com', `${'a'.repeat(65)}@x.com`])(
  '%s is refused as undeliverable',
  address => {
    expect(addressErrorOf(address)).toBe('Enter an e-mail address such as name@company.com.');
  },
);

test('the error names letters that mail does not allow', () => {
  expect(addressErrorOf('jörg@example.com')).toContain('plain letters (a to z) before the @');
});

test.each(['company', 'localhost', 'mail', 'intranet'])('domain %s lacks its ending', domain => {
  expect(addressErrorOf(`asha@${domain}`)).toBe(
    'Enter the whole e-mail address, with its ending: name@company.com.',
  );
  expect(suggestedDomain(`asha@${domain}`)).toBeUndefined();
});

test.each([
  ['gmail', 'gmail.com'],
  ['Gmail', 'gmail.com'],
  ['gmail.', 'gmail.com'],
  ['gmailcom', 'gmail.com'],
  ['gmial', 'gmail.com'],
  ['yahoo', 'yahoo.com'],
  ['hotmail', 'hotmail.com'],
  ['outlook', 'outlook.com'],
  ['icloud', 'icloud.com'],
  ['aol', 'aol.com'],
  ['web', 'web.de'],
])('for %s, which has no ending, the error suggests %s', (domain, meant) => {
  expect(suggestedDomain(`asha@${domain}`)).toBe(meant);
  expect(addressErrorOf(`asha@${domain}`)).toBe(`Did you mean ${meant}?`);
});

test.each([
  ['gmial.com', 'gmail.com'],
  ['gmal.com', 'gmail.com'],
  ['gmaill.com', 'gmail.com'],
  ['gmail.con', 'gmail.com'],
  ['gmail.co', 'gmail.com'],
  ['gmail,com', 'gmail.com'],
  ['hotmial.com', 'hotmail.com'],
  ['yahooo.com', 'yahoo.com'],
  ['outlok.com', 'outlook.com'],
  ['iclould.com', 'icloud.com'],
])('for %s the suggestion is %s', (domain, meant) => {
  expect(suggestedDomain(`asha@${domain}`)).toBe(meant);
});

test.each(['gmail.com', 'mail.com', 'email.com', 'ymail.com', 'live.com', 'love.com', 'bol.com'])(
  '%s gets no suggestion',
  domain => {
    expect(suggestedDomain(`asha@${domain}`)).toBeUndefined();
  },
);

test('another domain keeps the local part', () => {
  expect(atDomain('Asha+news@gmial.com', 'gmail.com')).toBe('Asha+news@gmail.com');
});
