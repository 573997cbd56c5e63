import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '#test/support/texts.ts';
import { ApiError } from '#platform/errors.ts';
import { readWebhookUrl } from './webhook-url.ts';

const PUBLIC_ONLY = { allowPrivateNetwork: false };

function reasonAgainst(text: string, options = PUBLIC_ONLY): string | null {
  try {
    readWebhookUrl(text, options);
    return null;
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return error.message;
  }
}

test('readWebhookUrl accepts HTTPS URLs and returns them parsed', () => {
  for (const text of [
    'https://partner.example/hooks',
    'https://partner.example',
    'HTTPS://Partner.Example/Hooks?a=1&b=%20',
    'https://partner.example:443/',
    'https://partner.example:1024/',
    'https://partner.example:65535/',
    'https://bücher.example/größe',
    'https://partner.example/a@b',
    'https://203.0.113.7/', // A reserved address is accepted here, because the service checks addresses only when it connects.
  ]) {
    assert.equal(readWebhookUrl(text, PUBLIC_ONLY).href, new URL(text).href);
  }
});

test('a text that is not an absolute HTTPS URL is refused as a webhook URL', () => {
  for (const text of [
    '',
    'partner.example',
    'http://partner.example/',
    'ftp://partner.example/',
    'wss://partner.example/',
    'javascript:alert(1)',
    'https:',
    'https://',
    'https:partner.example/',
    'https:/partner.example/',
    'https:///partner.example/',
    'https:\\\\partner.example\\',
    'https://partner.example\\@other.example/',
    ' https://partner.example/',
    'https://partner.example/ ',
    'https://partner.example/\nhooks',
    'https://part\tner.example/',
    'https://partner.example/\u0000',
    'https://partner example/',
    'https://[::1/',
    'https://partner.example:65536/',
    'https://partner.example:x/',
    'https://1.2.3.256/',
  ]) {
    assert.equal(reasonAgainst(text), 'webhook_url: must be an HTTPS URL', text);
  }
});

test('a webhook URL with a user name or a password, even an empty one, is refused', () => {
  for (const userinfo of ['user', 'user:secret', ':secret', ':', '', 'a@b']) {
    assert.match(reasonAgainst(`https://${userinfo}@partner.example/`) ?? '', /user name or password/, userinfo);
  }
});

test('a webhook URL with a fragment, even an empty one, is refused', () => {
  for (const text of ['https://partner.example/#', 'https://partner.example/#a', 'https://partner.example?a#b']) {
    assert.match(reasonAgainst(text) ?? '', /fragment/, text);
  }
});

test('a webhook URL with a port below 1024 other than 443 is refused, unless private networks are allowed', () => {
  for (const port of [0, 22, 25, 80, 442, 444, 1_023]) {
    assert.match(reasonAgainst(`https://partner.example:${port}/`) ?? '', /port/, String(port));
    assert.equal(reasonAgainst(`https://partner.example:${port}/`, { allowPrivateNetwork: true }), null);
  }
});

test('a webhook URL of 2,048 code points is accepted, and a longer webhook URL is refused', () => {
  const start = 'https://partner.example/';
  for (const character of ['a', '🛎']) {
    const longest = start + character.repeat(2_048 - start.length);
    assert.equal(reasonAgainst(longest), null);
    assert.match(reasonAgainst(longest + character) ?? '', /2048 characters/);
  }
  assert.match(reasonAgainst(start + 'a'.repeat(1_000_000)) ?? '', /2048 characters/);
});

test('readWebhookUrl throws only errors of the API, and accepts only HTTPS URLs without user name, password, fragment or forbidden port', () => {
  const anything = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.string({ unit: 'grapheme' }).map((rest) => `https://${rest}`),
  );
  fc.assert(
    fc.property(anything, (text) => {
      if (reasonAgainst(text) === null) {
        const { protocol, username, password, hash, port } = readWebhookUrl(text, PUBLIC_ONLY);
        assert.deepEqual(
          { protocol, username, password, hash },
          { protocol: 'https:', username: '', password: '', hash: '' },
        );
        assert.ok(port === '' || Number(port) >= 1_024);
      }
    }),
    { numRuns: 300 },
  );
});
