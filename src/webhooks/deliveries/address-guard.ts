import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/**
 * IPv4 ranges that no webhook may reach, because they are not ordinary public addresses. They come from IANA's special-purpose registry and
 * RFC 1112 (240.0.0.0/4). A few of these ranges are reachable from the whole Internet (AS112, AMT, and the PCP and TURN anycast addresses
 * in 192.0.0.0/24). The service refuses them too, because they belong to shared infrastructure, and no webhook receiver has such an
 * address.
 */
const SPECIAL_IPV4: readonly [network: string, prefix: number][] = [
  ['0.0.0.0', 8], // addresses of the local network ("this network")
  ['10.0.0.0', 8], // private networks
  ['100.64.0.0', 10], // shared address space of carriers (carrier-grade NAT)
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12], // private networks
  ['192.0.0.0', 24], // IETF protocol assignments
  ['192.0.2.0', 24], // documentation examples
  ['192.31.196.0', 24], // AS112 name servers
  ['192.52.193.0', 24], // AMT relays (multicast tunnels)
  ['192.88.99.0', 24], // 6to4 relays, deprecated
  ['192.168.0.0', 16], // private networks
  ['192.175.48.0', 24], // AS112 name servers
  ['198.18.0.0', 15], // network benchmarks
  ['198.51.100.0', 24], // documentation examples
  ['203.0.113.0', 24], // documentation examples
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/**
 * IPv6 ranges that no webhook may reach, because they are not ordinary public addresses. IANA assigns global unicast addresses only from
 * 2000::/3. The first three entries cover all addresses outside 2000::/3. The other entries are special ranges inside 2000::/3. The first
 * three entries include the IPv6 forms of IPv4 addresses (::/96, mapped ::ffff:0:0/96, NAT64 64:ff9b::/96 and 64:ff9b:1::/48), the discard
 * range (100::/64), segment routing (5f00::/16), fc00::/7, fe80::/10, fec0::/10 and ff00::/8.
 */
const SPECIAL_IPV6: readonly [network: string, prefix: number][] = [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23], // IETF protocol assignments: Teredo, benchmarks, ORCHID, …
  ['2001:db8::', 32], // documentation examples
  ['2002::', 16], // 6to4: the address contains an IPv4 address
  ['2620:4f:8000::', 48], // AS112 name servers
  ['3fff::', 20], // documentation examples
];

// Each address family has its own BlockList. In a shared list, `::/3` would match every IPv4 address, because a BlockList also compares an
// IPv4 address in its mapped form (::ffff:a.b.c.d) with the IPv6 ranges.
const specialIpv4 = new BlockList();
for (const [network, prefix] of SPECIAL_IPV4) {
  specialIpv4.addSubnet(network, prefix, 'ipv4');
}
const specialIpv6 = new BlockList();
for (const [network, prefix] of SPECIAL_IPV6) {
  specialIpv6.addSubnet(network, prefix, 'ipv6');
}

/** Returns true if the text is an ordinary public IP address. Returns false if the text is not an IP address, or has a zone id. */
export function isPublicAddress(ip: string): boolean {
  const family = isIP(ip);
  if (family === 4) {
    return !specialIpv4.check(ip, 'ipv4');
  }
  return family === 6 && !ip.includes('%') && !specialIpv6.check(ip, 'ipv6');
}

/** IP address of a webhook host. `family` is 4 or 6. */
export interface VettedAddress {
  address: string;
  family: number;
}

/** Resolves a host name to all its addresses, as `dns.promises.lookup` does. */
export type HostLookup = (hostname: string) => Promise<VettedAddress[]>;

export interface VettingOptions {
  /** True if every address is allowed, also a private address. Used in development. */
  allowPrivateNetwork: boolean;
  /** Replaces the DNS look-up of the system. Used by tests, for example to change the address of a host name. */
  lookup?: HostLookup | undefined;
}

/**
 * Error for a host with an address that is not public. The host is an IP address, or a name that resolves to this address. The message does
 * not name the address, because the address could reveal something about our network.
 */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';

  constructor() {
    super('The host resolves to an address that is not public');
  }
}

/**
 * Resolves the host of a URL, and refuses the host if one of its addresses is not public. Returns all addresses of the host. The caller
 * must connect to the returned addresses. It must not resolve the name again, because a second look-up could return unchecked addresses.
 * @throws AddressRefusedError if an address of the host is not public
 * @throws the error of the look-up unchanged, if the look-up fails
 */
export async function vetHost(hostname: string, options: VettingOptions): Promise<VettedAddress[]> {
  const addresses = await resolve(hostname, options.lookup ?? lookupAll);
  if (!options.allowPrivateNetwork && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw new AddressRefusedError();
  }
  return addresses;
}

/**
 * Returns the addresses of a URL's host. If the host is an IP address, returns it without a look-up. Removes the brackets of an IPv6
 * address.
 */
async function resolve(hostname: string, lookup: HostLookup): Promise<VettedAddress[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(host);
  return family === 0 ? lookup(host) : [{ address: host, family }];
}

const lookupAll: HostLookup = (hostname) => systemLookup(hostname, { all: true });
