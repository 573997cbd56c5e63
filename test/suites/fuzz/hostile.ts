/**
 * Prefixes that mark JSON text which a JavaScript value cannot express. `RAW` begins a string whose rest is written without quotes, for
 * example a number that is too large for a double. `KEY` begins a key that is written without this prefix, so that an object can have two
 * keys with the same name.
 */
export const RAW = 'RAW-';
export const KEY = 'KEY-';

/** Hostile values, by name. The service guarantees a correct response to each of these values in every field and parameter. */
export const PROMISED_VALUES: Record<string, unknown> = {
  null: null,
  'U+0000': 'a\0b',
  'a lone high surrogate': 'a\ud800b',
  '1e309': `${RAW}1e309`,
  'the maximum of int4 plus one': 2_147_483_648,
  'the maximum of int8 plus one': `${RAW}9223372036854775808`,
  '30 February': '2027-02-30',
  'the year 0': '0000-01-01',
  'a day 10,000 nights from now': 'REF-day-10000-',
  '150 characters of four bytes': '𝄞'.repeat(150),
  '151 characters of four bytes': '𝄞'.repeat(151),
  'an object with the key __proto__': { [`${KEY}__proto__`]: { isAdmin: true } },
  '10,000 levels of lists': `${RAW}${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  '10,000 levels of objects': `${RAW}${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
};

/** More hostile values, by name. Such values have caused faults in other services. */
export const OTHER_VALUES: Record<string, unknown> = {
  true: true,
  'an empty string': '',
  'an empty list': [],
  'an empty object': {},
  'a lone low surrogate': '\udc00',
  '-1e309': `${RAW}-1e309`,
  'minus zero': `${RAW}-0`,
  '1e-400': `${RAW}1e-400`,
  'the minimum of int4 minus one': -2_147_483_649,
  'a number of 400 digits': `${RAW}${'9'.repeat(400)}`,
  zero: 0,
  'minus one': -1,
  'a fraction': 1.5,
  'a number as text': '2',
  'hexadecimal text': '0x10',
  'the last day of the year 9999': '9999-12-31',
  'a day before the epoch': '0001-01-01',
  'a date and time': '2027-01-01T00:00:00Z',
  'a day in the past': '2001-01-01',
  'a text of 20,000 characters': 'x'.repeat(20_000),
  'a string with quotes': `'";--\\`,
  'a template': '%s%n${7*7}{{7*7}}',
  'a path upwards': '../../..',
  'text from right to left': '\u202eabc\u200f',
  'a letter with 300 combining characters': `a${'\u0301'.repeat(300)}`,
  'a line break': 'a\r\nX-Injected: 1',
  'an object with the key constructor': { constructor: { prototype: { isAdmin: true } } },
  '40 levels of lists': `${RAW}${'['.repeat(40)}${']'.repeat(40)}`,
  'a list of 1,001 numbers': Array.from({ length: 1_001 }, (_, index) => index),
  'a UUID of all zeros': '00000000-0000-0000-0000-000000000000',
  'a UUID as URN': 'urn:uuid:0190a6c2-0000-7000-8000-000000000000',
  'a URL without host': 'https://',
  'a URL with a user': 'https://user:word@hooks.example/',
  'a URL of 3,000 characters': `https://hooks.example/${'a'.repeat(3_000)}`,
};

/**
 * All hostile values. The checks of responses in `oracle.ts` report texts from inside the service, for example SQL. No hostile value
 * contains such a text, so that the checks do not report a response that only repeats a value.
 */
export const HOSTILE_VALUES: Record<string, unknown> = { ...PROMISED_VALUES, ...OTHER_VALUES };

/**
 * Texts that are put into a path or a query without further encoding, for example invalid percent-encoding, characters
 * with a special meaning in a URL, and very long texts.
 */
export const HOSTILE_ENCODINGS = [
  '%2F',
  '%00',
  '%FF',
  '%',
  '%ZZ',
  '%C0%AF',
  '%ED%A0%80',
  '%F4%90%80%80',
  '%2e%2e',
  '..',
  '.',
  '%252F',
  '+',
  '%20',
  ';a=b',
  ':id',
  '*',
  '\xff',
  '\xc3\xa9',
  '%F0%9D%84%9E'.repeat(150),
  '%F0%9D%84%9E'.repeat(151),
  'a'.repeat(5_000),
];

/** Objects with fields that no schema has. The fuzzer merges each object into a valid body. */
export const HOSTILE_KEYS: Record<string, unknown>[] = [
  { [`${KEY}__proto__`]: { isAdmin: true } },
  { [`${KEY}constructor`]: { prototype: { isAdmin: true } } },
  { toString: 1, valueOf: 1, hasOwnProperty: 1 },
  { '': 1 },
  { 'a\0b': 1 },
  { '\ud800': 1 },
  { 'a.b': 1, 'items[0]': 1, '[': 1 },
  { ['k'.repeat(5_000)]: 1 },
  { tenant_id: 1, restaurant_id: 1, hotel_id: 1 },
];

export const CONTENT_TYPES = {
  json: ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"'],
  form: ['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded; charset=UTF-8'],
  multipart: ['multipart/form-data; boundary=fuzz', 'multipart/form-data; boundary="fuzz"; charset=utf-8'],
};

export const ODD_CONTENT_TYPES = [
  '',
  'application',
  'application/',
  '/json',
  'text/plain',
  'application/xml',
  'application/json, text/plain',
  'application/json;',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  'application/json; charset=',
  'application/vnd.api+json',
  'application/json\t;\tcharset=utf-8',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  `multipart/form-data; boundary=${'b'.repeat(300)}`,
  'multipart/form-data; boundary=other',
  'multipart/mixed; boundary=fuzz',
  'application/x-www-form-urlencoded; charset=iso-8859-1',
  '\xff\xfe',
  'a'.repeat(3_000),
  `application/json${'; a=b'.repeat(500)}`,
];

/** Unusual headers. A request may have some of them in addition to its usual headers. */
export const ODD_HEADERS: [string, string][] = [
  ['Accept', 'text/xml'],
  ['Accept', 'application/json;q=0'],
  ['Accept-Encoding', 'gzip, br'],
  ['Accept-Language', '*;q=banana'],
  ['Content-Encoding', 'gzip'],
  ['Content-Encoding', 'identity'],
  ['Content-Language', '\xff'],
  ['Cookie', 'a=b; __proto__=c'],
  ['Origin', 'https://evil.example'],
  ['Access-Control-Request-Method', 'PUT'],
  ['Range', 'bytes=0-1'],
  ['If-None-Match', '*'],
  ['If-None-Match', 'W/"x", "y", garbage'],
  ['If-None-Match', '"'.repeat(4_000)],
  ['If-Match', '"x"'],
  ['If-Modified-Since', 'yesterday'],
  ['X-Request-Id', 'mine.1'],
  ['X-Request-Id', 'not a sane one \xff'],
  ['X-Request-Id', 'r'.repeat(200)],
  ['X-Forwarded-Host', 'evil.example"><b>'],
  ['X-Forwarded-Proto', 'javascript'],
  ['X-Forwarded-For', 'not an address, ::1, 999.1.1.1'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Tenant-Id', '1'],
  ['Authorization', 'Basic dXNlcjpwYXNz'],
  ['Authorization', 'Bearer'],
  ['Authorization', 'Bearer a.b.c'],
  ['Authorization', `Bearer ${'a'.repeat(6_000)}`],
  ['Authorization', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'],
  ['Authorization', 'Bearer \xff\xfe'],
  ['X-API-Key', '\xff'],
  ['X-API-Key', ''],
  ['X-PMS-API-Key', 'k'.repeat(4_000)],
  ['X-Channel-Key', '%00'],
  ['X-Service-Timestamp', '1e309'],
  ['X-Service-Timestamp', '-1'],
  ['X-Service-Signature', 'sha256='],
  ['X-Service-Signature', 's'.repeat(4_000)],
  ['Connection', 'close'],
  ['Connection', 'X-API-Key'],
  ['TE', 'trailers'],
  ['Upgrade', 'h2c'],
  ['Via', '1.1 \xff'],
  ['X-Long', 'v'.repeat(8_000)],
];

/**
 * Texts that are not valid bodies, and forms whose field names contradict each other (`a=1&a[0]=2`) or have very large
 * list indexes.
 */
export const ODD_BODIES = [
  '',
  '{',
  '[]',
  '""',
  'null',
  '{}{}',
  '[1,]',
  '{"a":1,}',
  "{'a':1}",
  '\ufeff{}',
  '{"a":1e309}',
  '{"__proto__":{"a":1}}',
  '{"a":"\\ud800"}',
  '&&&',
  '=',
  'a=1&a=2',
  'a[b=1',
  'a]b=1',
  '[0]=1',
  '.a=1',
  'a..b=1',
  'a[]=1&a[]=2',
  'a[1001]=1',
  'a[99999999999999999999]=1',
  'a[-1]=1',
  'a[0]=1&a[b]=2',
  'a=1&a[0]=2',
  'items[1001][item_id]=1',
  'items[0]=1&items[a]=2',
  'a[__proto__]=1',
  'a[constructor][prototype][b]=1',
  '__proto__[a]=1',
  `a${'[b]'.repeat(11)}=1`,
  'a=%00',
  'a=%FF',
  'a=%ED%A0%80',
  '--fuzz--',
  '--fuzz\r\n\r\n\r\n--fuzz--',
  '--fuzz\r\nContent-Disposition: form-data; name="a"\r\n\r\n1',
  '--fuzz\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n1\r\n--fuzz--\r\n',
  '--fuzz\r\nContent-Disposition: form-data; name=""\r\n\r\n1\r\n--fuzz--\r\n',
  '--fuzz\r\nContent-Disposition: attachment\r\n\r\n1\r\n--fuzz--\r\n',
  '--fuzz\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\n\r\nMQ==\r\n--fuzz--\r\n',
];
