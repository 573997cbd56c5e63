import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import type { IdentityProvider } from '#platform/config.ts';
import { startService, type TestService } from './service.ts';

export const ISSUER = 'https://id.example/';
export const AUDIENCE = 'roomservice-staff';

export interface SigningKey {
  alg: string;
  kid: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  jwk: JWK;
}

export async function makeKey(alg: string, kid: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** Test server in the role of the identity provider. It serves a key set (JWKS) on a free port of 127.0.0.1. */
export interface KeyServer {
  url: URL;
  server: Server;
  /** Sends the response to a request. By default it sends `keys` as a key set. */
  answer: (response: ServerResponse) => void;
  keys: JWK[];
  requestCount: number;
}

export async function startKeyServer(keys: JWK[]): Promise<KeyServer> {
  const answer = (response: ServerResponse) => response.end(JSON.stringify({ keys: keyServer.keys }));
  const server = createServer((_request, response) => {
    keyServer.requestCount += 1;
    keyServer.answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`);
  const keyServer: KeyServer = { url, server, keys, answer, requestCount: 0 };
  return keyServer;
}

export async function stopKeyServer({ server }: KeyServer): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/** Starts a node that uses the identity provider but has not fetched the provider's keys yet. */
export function startWithProvider(
  { url }: KeyServer,
  beside?: TestService,
  requiresVerifiedEmail = true,
  onLog?: (line: string) => void,
): Promise<TestService> {
  const config = { identityProvider: { ...providerAt({ url }), requiresVerifiedEmail } };
  return startService({ config, ...(beside ? { beside } : {}), ...(onLog ? { onLog } : {}) });
}

export function providerAt({ url }: Pick<KeyServer, 'url'>): IdentityProvider {
  return { issuer: ISSUER, audience: AUDIENCE, jwksUrl: url, requiresVerifiedEmail: true };
}

export function signToken(key: SigningKey, claims: Record<string, unknown>, header: Record<string, unknown> = {}) {
  const now = Math.floor(Date.now() / 1000);
  const defaults = { iss: ISSUER, aud: AUDIENCE, sub: 'user-17', iat: now, exp: now + 600, email_verified: true };
  return new SignJWT({ ...defaults, ...claims })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
    .sign(key.privateKey);
}
