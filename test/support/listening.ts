import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CredentialSecret } from '#access/credentials/schema.ts';
import { type Command, startProgram } from './command.ts';
import { eventually } from './webhooks.ts';

export interface Listening extends Command {
  /** Returns the printed lines that describe events. */
  lines(): string[];
}

/** Starts `roomservice listen` and waits until it prints that it waits for new events. */
export async function startListening(args: string[], env: Record<string, string>): Promise<Listening> {
  const command = startProgram(['listen', ...args], { env });
  await command.prints(/^Waiting for new events/m);
  return {
    ...command,
    lines: () =>
      command
        .output()
        .split('\n')
        .filter((line) => /^(?:[\d{]| {10})/.test(line)),
  };
}

/** Returns the variables for `roomservice listen`. */
export function listenerEnv(url: string, credential: CredentialSecret, stateHome: string): Record<string, string> {
  return {
    ROOMSERVICE_URL: url,
    ROOMSERVICE_API_KEY: credential.api_key,
    ROOMSERVICE_API_SECRET: credential.api_secret,
    XDG_STATE_HOME: stateHome,
  };
}

export interface LocalRequest {
  path: string;
  headers: IncomingHttpHeaders;
  /** Header names as they arrived, with upper and lower case. */
  headerNames: string[];
  rawBody: Buffer;
}

/** Server of a developer, to which `roomservice listen` forwards events, by plain HTTP on this machine. */
export interface LocalServer {
  url: string;
  requests: LocalRequest[];
  waitFor(count: number): Promise<LocalRequest[]>;
  close(): Promise<void>;
}

/** @param answer returns the status of the response, or null to send no response */
export async function startLocalServer(
  answer: (request: LocalRequest) => number | null = () => 204,
): Promise<LocalServer> {
  const requests: LocalRequest[] = [];
  const take = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = await message.toArray();
    const headerNames = message.rawHeaders.filter((_, index) => index % 2 === 0);
    const request = { path: message.url ?? '', headers: message.headers, headerNames, rawBody: Buffer.concat(chunks) };
    requests.push(request);
    const status = answer(request);
    if (status !== null) {
      response.writeHead(status).end();
    }
  };
  const server = createServer((message, response) => void take(message, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/hooks?from=listen`,
    requests,
    waitFor: (count) => eventually(() => requests.length >= count && requests, `request ${count}`, 30_000),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
