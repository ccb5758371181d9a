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
])('%j stays as it is', text => {
  expect(addressIn(text)).toBe(text);
});

test.each([
  ['user@müller.example', 'user@xn--mller-kva.example'],
  ['user@пример.example', 'user@xn--e1afmkfd.example'],
  ['user@例え。テスト', 'user@xn--r8jz45g.xn--zckzah'],
  ['user@MÜLLER.example', 'user@xn--mller-kva.example'],
  ['user@company.example.', 'user@company.example'],
])('the domain of %s is %s to mail', (address, sent) => {
  expect(withAsciiDomain(address)).toBe(sent);
  expect(addressErrorOf(address)).toBeUndefined();
});

// No address that mail can go to may ever be refused here.
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
])('%j may be sent, or is for the browser to refuse', address => {
  expect(addressErrorOf(address)).toBeUndefined();
});

test.each(['a..b@x.com', '.a@x.com', 'a.@x.com', `${'a'.repeat(65)}@x.com`])(
  'no mail can go to %s',
  address => {
    expect(addressErrorOf(address)).toBe('Enter an e-mail address such as name@company.com.');
  },
);

test('letters before the @ that no mail can go to are named', () => {
  expect(addressErrorOf('jörg@example.com')).toContain('plain letters (a to z) before the @');
});

test.each(['company', 'localhost', 'mail', 'intranet'])('%s is said to lack its ending', domain => {
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
])('instead of %s, which has no ending, %s may be meant', (domain, meant) => {
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
])('%s is asked about: %s may be meant', (domain, meant) => {
  expect(suggestedDomain(`asha@${domain}`)).toBe(meant);
});

test.each(['gmail.com', 'mail.com', 'email.com', 'ymail.com', 'live.com', 'love.com', 'bol.com'])(
  '%s is not asked about',
  domain => {
    expect(suggestedDomain(`asha@${domain}`)).toBeUndefined();
  },
);

test('another domain leaves what stands before it', () => {
  expect(atDomain('Asha+news@gmial.com', 'gmail.com')).toBe('Asha+news@gmail.com');
});
