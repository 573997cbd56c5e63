import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Returns the network of a client's address. All addresses of a network count as one client. The network of an IPv4 address is the address
 * itself, also if it is written as IPv6 (`::ffff:192.0.2.1`). For an IPv6 address, it is the first 64 bits (/64), because an Internet
 * provider gives each customer at least a /64. A proxy may send a text that is not an address. This function returns such a text unchanged.
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
