import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/**
 * IPv4 ranges that are not an ordinary public host, by IANA's special-purpose registry and RFC 1112 (240.0.0.0/4). A few
 * of them are routed worldwide (AS112, AMT, the PCP and TURN anycast addresses in 192.0.0.0/24), but name shared
 * infrastructure where no webhook lives.
 */
const SPECIAL_IPV4: readonly [network: string, prefix: number][] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by carriers
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays, deprecated
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/**
 * All of IPv6 but 2000::/3, the only space that IANA gives out as global unicast, and the special ranges inside it. The
 * first three lines hold, among others, ::/96, mapped (::ffff:0:0/96) and NAT64 (64:ff9b::/96, 64:ff9b:1::/48) forms of
 * IPv4 addresses, discard (100::/64), segment routing (5f00::/16), fc00::/7, fe80::/10, fec0::/10 and ff00::/8.
 */
const SPECIAL_IPV6: readonly [network: string, prefix: number][] = [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23], // protocol assignments: Teredo, benchmarks, ORCHID, …
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: carries an IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
];

// One list for each family: a BlockList compares an IPv4 address with IPv6 ranges in its mapped form.
const specialIpv4 = new BlockList();
for (const [network, prefix] of SPECIAL_IPV4) {
  specialIpv4.addSubnet(network, prefix, 'ipv4');
}
const specialIpv6 = new BlockList();
for (const [network, prefix] of SPECIAL_IPV6) {
  specialIpv6.addSubnet(network, prefix, 'ipv6');
}

/** Tells whether an IP address is an ordinary public one. What is no IP address, or bears a zone id, is not. */
export function isPublicAddress(ip: string): boolean {
  const family = isIP(ip);
  if (family === 4) {
    return !specialIpv4.check(ip, 'ipv4');
  }
  return family === 6 && !ip.includes('%') && !specialIpv6.check(ip, 'ipv6');
}

/** An address that may be connected to; `family` is 4 or 6. */
export interface VettedAddress {
  address: string;
  family: number;
}

/** Resolves a name to all its addresses, as `dns.promises.lookup` does. */
export type HostLookup = (hostname: string) => Promise<VettedAddress[]>;

export interface VettingOptions {
  /** For development: nothing is refused. */
  allowPrivateNetwork: boolean;
  /** For tests of names that change between look-ups. */
  lookup?: HostLookup | undefined;
}

/** The host is, or leads to, an address that is not public. It does not tell which: that is nobody else's business. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';

  constructor() {
    super('The host resolves to an address that is not public');
  }
}

/**
 * The addresses of a URL's host that may be connected to. A name is resolved once, and the caller connects to what is
 * returned, so that it cannot lead elsewhere in between. One special address among several refuses the host.
 * Throws AddressRefusedError, or the look-up's own error.
 */
export async function vetHost(hostname: string, options: VettingOptions): Promise<VettedAddress[]> {
  const addresses = await resolve(hostname, options.lookup ?? lookupAll);
  if (!options.allowPrivateNetwork && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw new AddressRefusedError();
  }
  return addresses;
}

/** A URL's IPv6 address stands in brackets, and an address of either family needs no look-up. */
async function resolve(hostname: string, lookup: HostLookup): Promise<VettedAddress[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(host);
  return family === 0 ? lookup(host) : [{ address: host, family }];
}

const lookupAll: HostLookup = (hostname) => systemLookup(hostname, { all: true });
