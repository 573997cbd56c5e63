import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { type HostLookup, isPublicAddress, vetHost } from './vetting-connector.ts';

/** Addresses that no webhook may reach. They include the first and the last address of many special ranges. */
const SPECIAL = `
  0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.0.0.1 127.255.255.255
  169.254.0.0 169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255
  192.31.196.1 192.52.193.1 192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255 192.175.48.1 198.18.0.0
  198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0 239.255.255.255 240.0.0.0
  255.255.255.254 255.255.255.255
  :: ::1 ::2 ::7f00:1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:808:808 ::ffff:0:10.0.0.1
  64:ff9b:: 64:ff9b::10.0.0.1 64:ff9b::8.8.8.8 64:ff9b::ffff:ffff 64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff
  100:: 100::ffff:ffff:ffff:ffff 100:0:0:1::1 2001:: 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:3::1
  2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8:: 2001:db8:ffff::1
  2002:: 2002:7f00:1:: 2002:808:808::1 2620:4f:8000::1 3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff
  4000:: 5f00:: 5f00:ffff::1 8000:: fc00:: fd00:ec2::254 fdff:ffff::1 fe80:: fe80::1 febf:ffff::1 fec0:: fec0::1
  feff:ffff::1 ff00:: ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`;

/** Public addresses. They include addresses next to special ranges, and addresses of well-known hosts. */
const PUBLIC = `
  1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
  169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0
  192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0
  223.255.255.255
  2000::1 2001:200::1 2001:4860:4860::8888 2001:db7:ffff::1 2001:db9:: 2003::1 2606:4700:4700::1111 2620:4f:7fff::1
  2620:4f:8001::1 2a00:1450:4001:81b::200e 3ffe:ffff::1 3fff:1000::1
`;

const NOT_ADDRESSES = [
  '',
  'localhost',
  '1.2.3',
  '127.1',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '2130706433',
  '8.8.8.8.',
  ' 8.8.8.8',
  '8.8.8.8 ',
  '8.8.8.8/32',
  '8.8.8.256',
  '[2606:4700:4700::1111]',
  '2606:4700:4700::1111%eth0',
  'fe80::1%eth0',
  'fe80::1%',
  '2606:4700:4700::11111',
  ':::',
];

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

test('isPublicAddress is false for private, loopback, link-local, multicast and reserved addresses', () => {
  for (const ip of words(SPECIAL)) {
    assert.equal(isPublicAddress(ip), false, ip);
  }
});

test('isPublicAddress is true for public addresses, even directly before or after a reserved range', () => {
  for (const ip of words(PUBLIC)) {
    assert.equal(isPublicAddress(ip), true, ip);
  }
});

test('isPublicAddress is false for a text that is not an IP address or that has a zone id', () => {
  for (const text of NOT_ADDRESSES) {
    assert.equal(isPublicAddress(text), false, text);
  }
});

test('isPublicAddress is false for every IPv4 address that is written as an IPv6 address', () => {
  fc.assert(
    fc.property(fc.ipV4(), (ip) => {
      const mapped = ipaddr.IPv4.parse(ip).toIPv4MappedAddress().toNormalizedString();
      for (const ipv6Form of [
        mapped,
        `::ffff:${ip}`,
        `::${ip}`,
        `64:ff9b::${ip}`,
        `64:ff9b:1::${ip}`,
        `::ffff:0:${ip}`,
      ]) {
        assert.equal(isPublicAddress(ipv6Form), false, ipv6Form);
      }
    }),
  );
});

const REFUSED = { reason: 'address_refused' };
const PUBLIC_ONLY = { allowPrivateNetwork: false };
const noLookup: HostLookup = () => Promise.reject(new Error('An IP address must not be looked up.'));

function answering(...addresses: string[]): HostLookup {
  return () => Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
}

test('vetHost checks an IP address in a URL, in any spelling, without a DNS look-up', async () => {
  for (const host of ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0']) {
    const { hostname } = new URL(`https://${host}/`);
    await assert.rejects(vetHost(hostname, { ...PUBLIC_ONLY, lookup: noLookup }), REFUSED, host);
  }
  const vetted = await vetHost('[2606:4700:4700::1111]', { ...PUBLIC_ONLY, lookup: noLookup });
  assert.deepEqual(vetted, [{ address: '2606:4700:4700::1111', family: 6 }]);
});

test('vetHost returns all addresses of a host name if all of them are public', async () => {
  const vetted = await vetHost('partner.example', { ...PUBLIC_ONLY, lookup: answering('8.8.8.8', '2003::1') });
  assert.deepEqual(vetted, [
    { address: '8.8.8.8', family: 4 },
    { address: '2003::1', family: 6 },
  ]);
});

test('vetHost refuses a host name if one of its addresses is not public, and the message does not show the address', async () => {
  for (const answer of [['8.8.8.8', '10.0.0.1'], ['10.0.0.1'], ['8.8.8.8', 'fe80::1%eth0']]) {
    const vetting = vetHost('partner.example', { ...PUBLIC_ONLY, lookup: answering(...answer) });
    await assert.rejects(vetting, { ...REFUSED, message: 'address_refused' });
  }
});

test('vetHost refuses localhost after a real look-up, and accepts localhost if private networks are allowed', async () => {
  await assert.rejects(vetHost('localhost', PUBLIC_ONLY), REFUSED);
  const vetted = await vetHost('localhost', { allowPrivateNetwork: true });
  assert.ok(vetted.some(({ address }) => address === '127.0.0.1' || address === '::1'));
});
