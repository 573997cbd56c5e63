import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Address of the service, and the API key and API secret for calling it. */
interface Access {
  base: string;
  key: string;
  secret: string;
}

/** Registered webhook URL, the API key that registered it, and the secret that signs its deliveries. */
interface Registration {
  key: string;
  url: string;
  webhookSecret: string;
}

const RETRY_MS = 1_000;

/**
 * Registers a webhook URL, and stores the URL and its secret in the file `path`. The URL consists of the URL in `hooks` and a random id.
 * The file is needed, because the service returns the secret only at the first registration of a URL. At the next start, the same URL is
 * registered, and the secret comes from the file. Without the file, the function makes a URL with a new random id, and this URL gets a new
 * secret. If the service cannot be reached yet, the function tries again every second.
 * @throws Error if the service refuses the registration
 */
export async function register(access: Access, hooks: string, path: string): Promise<Registration> {
  const stored = readStored(path);
  const isReusable = stored?.key === access.key && stored.url.startsWith(`${hooks}/`);
  const url = isReusable ? stored.url : `${hooks}/${randomUUID()}`;
  const newSecret = await postUrl(access, url);
  const registration = { key: access.key, url, webhookSecret: newSecret || (stored?.webhookSecret ?? '') };
  writeFileSync(path, JSON.stringify(registration), { mode: 0o600 });
  return registration;
}

function readStored(path: string): Registration | null {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Registration) : null;
}

async function postUrl({ base, key, secret }: Access, url: string): Promise<string> {
  const response = await fetchWhenReachable(`${base}/v1/third-party/webhook/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, 'x-api-secret': secret },
    body: JSON.stringify({ webhook_url: url }),
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`The service at ${base} refused the webhook registration: ${response.status} ${text}`);
  }
  return (JSON.parse(text) as { webhook_secret: string }).webhook_secret;
}

async function fetchWhenReachable(url: string, init: RequestInit): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (tries === 1) {
        console.log(`Cannot reach ${url} yet (${String((error as Error).cause ?? error)}). Trying again every second.`);
      }
      await sleep(RETRY_MS);
    }
  }
}
