import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type TcpNetConnectOpts } from 'node:net';
import {
  type ConnectionOptions,
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import ipaddr from 'ipaddr.js';
import { SendFailure } from './send-error.ts';

/** Time in milliseconds after which the next address of a host is tried. */
const ADDRESS_ATTEMPT_MS = 1_000;
/** Network of all global unicast addresses of IPv6. `ipaddr.js` also calls addresses unicast that IANA has not assigned. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Addresses with a zone id and of shared infrastructure (AS112, AMT, PCP, TURN) do not count, because no receiver has such an address. */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 0 || ip.includes('%')) {
    return false;
  }
  const address = ipaddr.parse(ip);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_IPV6));
}

export type HostLookup = (hostname: string) => Promise<LookupAddress[]>;

export interface VettingOptions {
  /** Used in development. */
  allowPrivateNetwork: boolean;
  /** Replaces the DNS look-up of the system. Used by tests, for example to change the address of a host name. */
  lookup?: HostLookup | undefined;
}

/**
 * Returns all addresses of a host. The caller must connect to these, because a second look-up could return unchecked addresses.
 * @throws SendFailure `address_refused` if one of the addresses is not public, or `dns_failed`
 */
export async function vetHost(hostname: string, options: VettingOptions): Promise<LookupAddress[]> {
  const { allowPrivateNetwork, lookup = (name) => systemLookup(name, { all: true }) } = options;
  const host = withoutBrackets(hostname);
  const family = isIP(host);
  const addresses = family === 0 ? await lookup(host).catch(failLookup) : [{ address: host, family }];
  if (!allowPrivateNetwork && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw new SendFailure('address_refused');
  }
  return addresses;
}

function failLookup(): never {
  throw new SendFailure('dns_failed');
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Holds what any connection has received, until `onBytes` returns. */
const RECEIVED = Buffer.allocUnsafeSlow(65_536);

/**
 * Opens a TLS connection to the port of a URL, only at the addresses from `vetHost`.
 * @param onBytes gets the bytes that arrive, and must not keep them
 */
export function connectTo(url: URL, addresses: LookupAddress[], onBytes: (bytes: Buffer) => void): TLSSocket {
  const host = withoutBrackets(url.hostname);
  const options: ConnectionOptions & TcpNetConnectOpts = {
    host,
    port: Number(url.port) || 443,
    lookup: (_hostname, _options, callback) => callback(null, addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    servername: isIP(host) === 0 ? host.replace(/\.$/, '') : '',
    ALPNProtocols: ['http/1.1'],
    secureContext: trustedContext(),
    rejectUnauthorized: true, // Set to true explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn off the check of certificates.
    onread: {
      buffer: RECEIVED,
      callback: (size) => {
        onBytes(RECEIVED.subarray(0, size));
        return true;
      },
    },
  };
  return connectTls(options).setNoDelay(true);
}

let trusted: { certificates: readonly string[]; context: SecureContext } | null = null;

/** Returns the TLS context of all connections. To create one can take longer than all other steps of an attempt. */
function trustedContext(): SecureContext {
  const certificates = getCACertificates('default');
  if (trusted?.certificates !== certificates) {
    trusted = { certificates, context: createSecureContext() };
  }
  return trusted.context;
}
