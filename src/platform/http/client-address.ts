import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Without port, brackets or zone, and IPv4 never as IPv6. */
    readonly clientAddress: string;
  }
}

/** Valid Host header, which links in responses contain. It may be empty (RFC 9112 §3.2). */
export const HOST = /^(?:[\w.-]*|\[[\da-f:.]+\])(?::\d+)?$/i;

/** Adds `clientAddress` to requests. If the app trusts proxies, cleans the headers in which they forward it. */
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

/** Each proxy adds its entry at the end. So all entries before an invalid one go too: the proxy that wrote it does not vouch for them. */
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

/** The address of a closed connection is undefined. */
function cleanAddress(text = ''): string | null {
  const bare = text.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
  if (isIPv4(bare)) {
    return bare;
  }
  return isIPv6(bare) ? ipaddr.process(bare.replace(/%.*/, '')).toString() : null;
}

/** Returns what counts as one client: an IPv4 address, or the /64 of an IPv6 address, the least that a provider gives a customer. */
export function clientNetwork(address: string): string {
  if (!isIPv6(address)) {
    return address;
  }
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}
