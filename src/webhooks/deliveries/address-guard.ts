import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Network of all global unicast addresses of IPv6. `ipaddr.js` also calls addresses unicast that IANA has not assigned. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Returns true if the text is an ordinary public IP address. Returns false if the text is not an IP address, or has a zone id. Addresses of
 * shared infrastructure (AS112, AMT, PCP, TURN) are not ordinary, because no webhook receiver has such an address.
 */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 0 || ip.includes('%')) {
    return false;
  }
  const address = ipaddr.parse(ip);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_IPV6));
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
