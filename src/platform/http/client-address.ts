import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Address of the client, without port, brackets or zone. An IPv4 address is never written as IPv6. If a trusted proxy names no valid
     * address, the proxy counts as the client. Use this field instead of `ip`, which is the address as the connection has it.
     */
    readonly clientAddress: string;
  }
}

/**
 * Valid value of the Host header: a host name or address, and an optional port. It is checked because links in responses contain it. The
 * value may be empty (RFC 9112 §3.2).
 */
export const HOST = /^(?:[\w.-]*|\[[\da-f:.]+\])(?::\d+)?$/i;

/**
 * Adds `clientAddress` to the requests of the app.
 * @param hasProxies true if the app trusts proxies. Then it cleans the headers in which they forward the client's address
 */
export function addClientAddress(app: FastifyInstance, hasProxies: boolean): void {
  if (hasProxies) {
    app.addHook('onRequest', (request, _reply, done) => {
      cleanForwarded(request.raw.headers);
      done();
    });
  }
  app.decorateRequest('clientAddress', {
    getter() {
      return cleanAddress(this.ip) ?? '';
    },
  });
}

/**
 * Removes from the X-Forwarded-* headers what is no address, no host or no protocol of HTTP. In a list of addresses, each proxy adds its
 * entry at the end. So all entries before an invalid one are removed too, because the proxy that wrote the invalid one does not vouch for
 * them.
 */
function cleanForwarded(headers: IncomingHttpHeaders): void {
  const clean = (name: string, cleaned: (text: string) => string | null) => {
    if (headers[name] !== undefined) {
      headers[name] = cleaned(String(headers[name])) ?? undefined;
    }
  };
  clean('x-forwarded-for', cleanAddresses);
  clean('x-forwarded-host', (text) => (HOST.test(lastOf(text)) ? lastOf(text) : null));
  clean('x-forwarded-proto', (text) => /^https?$/i.exec(lastOf(text))?.[0].toLowerCase() ?? null);
}

function lastOf(list: string): string {
  return list.slice(list.lastIndexOf(',') + 1).trim();
}

function cleanAddresses(list: string): string {
  const entries = list.split(',').map((entry) => entry.trim());
  const addresses = entries.filter((entry) => entry !== '').map(cleanAddress);
  return addresses.slice(addresses.lastIndexOf(null) + 1).join(', ');
}

/**
 * Returns an IP address in its usual notation, without the port, the brackets and the zone that a proxy may write. Returns null if the text
 * is not an address. The address of a closed connection is undefined.
 */
function cleanAddress(text = ''): string | null {
  const bare = text.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
  if (isIPv4(bare)) {
    return bare;
  }
  return isIPv6(bare) ? ipaddr.process(bare.replace(/%.*/, '')).toString() : null;
}

/**
 * Returns the network of a client's address, as `clientAddress` has it. All addresses of a network count as one client. The network of an
 * IPv4 address is the address itself. For an IPv6 address, it is the first 64 bits (/64), because an Internet provider gives each customer
 * at least a /64.
 */
export function clientNetwork(address: string): string {
  if (!isIPv6(address)) {
    return address;
  }
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}
