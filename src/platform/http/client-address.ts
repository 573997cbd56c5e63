import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * What counts as one client: an IPv4 address, also where it comes as IPv6 (`::ffff:192.0.2.1`), and a /64 of IPv6, for that is the
 * smallest that a customer gets. A text that is no address, as a proxy may send, stands for itself.
 */
export function clientNetwork(address: string): string {
  if (isIPv4(address) || !isIPv6(address)) {
    return address;
  }
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) {
    return parsed.toIPv4Address().toString();
  }
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
