import { once } from 'node:events';
import { connect } from 'node:net';

/** Returns true if a server accepts connections on a port of 127.0.0.1. */
export async function acceptsConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
