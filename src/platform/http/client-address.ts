import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Returns the network that counts as one client. For IPv4 this is the whole address, also if it is written as IPv6 (`::ffff:192.0.2.1`).
 * For IPv6 it is the /64 network, because an Internet provider gives each customer at least this network. If the text is not an address, it
 * is returned unchanged. A proxy may send such a text.
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
