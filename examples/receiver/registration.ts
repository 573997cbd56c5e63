import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where the service is, and the credential that we call it with. */
export interface Access {
  base: string;
  key: string;
  secret: string;
}

/** A registered URL and the secret that its deliveries are signed with. */
export interface Registration {
  key: string;
  url: string;
  webhookSecret: string;
}

const RETRY_MS = 1_000;

/**
 * Registers a URL below `hooks` and keeps the outcome in a file, because the service gives the secret once: the same URL
 * registered again is answered with an empty one. Where the file is lost, another URL brings a new secret. Waits for a
 * service that is not there yet; throws where it refuses.
 */
export async function register(access: Access, hooks: string, path: string): Promise<Registration> {
  const kept = readKept(path);
  const isOurs = kept?.key === access.key && kept.url.startsWith(`${hooks}/`);
  const url = isOurs ? kept.url : `${hooks}/${randomUUID()}`;
  const newSecret = await postUrl(access, url);
  const registration = { key: access.key, url, webhookSecret: newSecret || (kept?.webhookSecret ?? '') };
  writeFileSync(path, JSON.stringify(registration), { mode: 0o600 });
  return registration;
}

function readKept(path: string): Registration | null {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Registration) : null;
}

async function postUrl({ base, key, secret }: Access, url: string): Promise<string> {
  const response = await reach(`${base}/v1/third-party/webhook/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, 'x-api-secret': secret },
    body: JSON.stringify({ webhook_url: url }),
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`The service at ${base} refuses the registration: ${response.status} ${text}`);
  }
  return (JSON.parse(text) as { webhook_secret: string }).webhook_secret;
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (tries === 1) {
        console.log(`Waiting for ${url} (${String((error as Error).cause ?? error)})`);
      }
      await sleep(RETRY_MS);
    }
  }
}
