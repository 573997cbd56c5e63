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
import { errorOf, SendFailure } from './send-error.ts';

/**
 * Time limit in milliseconds for connecting to one of several addresses of a host. After this time, the connector tries the next address.
 */
const ADDRESS_ATTEMPT_MS = 1_000;
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
  const addresses = await addressesOf(hostname, options.lookup ?? lookupAll);
  if (!options.allowPrivateNetwork && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw new AddressRefusedError();
  }
  return addresses;
}

/**
 * Returns the addresses of a URL's host. If the host is an IP address, returns it without a look-up. Removes the brackets of an IPv6
 * address.
 */
async function addressesOf(hostname: string, lookup: HostLookup): Promise<VettedAddress[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(host);
  return family === 0 ? lookup(host) : [{ address: host, family }];
}

const lookupAll: HostLookup = (hostname) => systemLookup(hostname, { all: true });

/**
 * Opens a TLS connection to the host and port of a URL. First resolves the host, and refuses the host if one of its addresses is not
 * public. If the options allow private networks, accepts all addresses. Connects only to the addresses that it has checked. If `lifetime`
 * is aborted, closes the connection.
 * @throws SendFailure if it cannot connect
 */
export async function openVetted(url: URL, vetting: VettingOptions, lifetime: AbortSignal): Promise<TLSSocket> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = await vetHost(host, vetting).catch(failLookup);
  lifetime.throwIfAborted();
  return await secured(openTls(host, Number(url.port) || 443, addresses, lifetime));
}

/** Opens a TLS connection to a host. Tries the checked addresses of the host one after the other, until one of them connects. */
function openTls(host: string, port: number, addresses: VettedAddress[], signal: AbortSignal): TLSSocket {
  const options: ConnectionOptions & TcpNetConnectOpts = {
    host,
    port,
    lookup: (_hostname, _options, callback) => callback(null, addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    servername: isIP(host) === 0 ? host.replace(/\.$/, '') : '',
    ALPNProtocols: ['http/1.1'],
    secureContext: trustedContext(),
    rejectUnauthorized: true, // Set to true explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn off the check of certificates.
    signal,
  };
  return connectTls(options).setNoDelay(true);
}

let trusted: { certificates: readonly string[]; context: SecureContext } | null = null;

/**
 * Returns the TLS context of all connections. The context trusts the CA certificates of the process, including those of
 * NODE_EXTRA_CA_CERTS. A new context is created only if these certificates have changed, because creating a context can take longer than
 * all other steps of an attempt.
 */
function trustedContext(): SecureContext {
  const certificates = getCACertificates('default');
  if (trusted?.certificates !== certificates) {
    trusted = { certificates, context: createSecureContext() };
  }
  return trusted.context;
}

/** Waits until the TLS handshake is done and the certificate is accepted. */
function secured(socket: TLSSocket): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    let isTcpConnected = false;
    socket.once('connect', () => {
      isTcpConnected = true;
    });
    socket.once('secureConnect', () => resolve(socket));
    // This listener is never removed. Without a listener, an error of an idle connection would end the process.
    socket.on('error', (error) => {
      const known = errorOf(error);
      reject(new SendFailure('before', known === 'network_error' && isTcpConnected ? 'tls_failed' : known));
    });
    socket.once('close', () => reject(new SendFailure('before', 'connection_reset')));
  });
}

function failLookup(error: unknown): never {
  throw new SendFailure('before', error instanceof AddressRefusedError ? 'address_refused' : 'dns_failed');
}
