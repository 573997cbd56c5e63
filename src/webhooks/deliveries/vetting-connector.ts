import { isIP, type TcpNetConnectOpts } from 'node:net';
import {
  type ConnectionOptions,
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { AddressRefusedError, type VettedAddress, type VettingOptions, vetHost } from './address-guard.ts';
import { errorOf, SendFailure } from './send-error.ts';

/**
 * Time limit in milliseconds for connecting to one of several addresses of a host. After this time, the connector tries the next address.
 */
const ADDRESS_ATTEMPT_MS = 1_000;

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
