import { jsonCall } from '../calls.ts';
import { startChild } from '../child.ts';
import type { VerifyJob } from '../floors/verify-password.ts';
import type { Slice } from '../load-worker.ts';
import { OWNER_PASSWORD, STAFF } from '../seed.ts';
import type { Row } from '../table.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

/**
 * Number of concurrent sign-ins. The number is large enough to use all CPU cores of a machine that has at most 16 cores. Each sign-in
 * computes a password hash, which takes 19 MB of memory and a whole core. The service computes at most one hash for each core at the same
 * time, so further sign-ins would only wait.
 */
const CONCURRENCY = 16;

export const SIGN_IN: Operation[] = [{ name: 'sign-in', measure: measureSignIn }];

/**
 * Measures sign-ins of many users, each from a different IP address. The service limits the sign-ins of one e-mail address and of one IP
 * address (rule 8). With fewer users or addresses, the service would refuse sign-ins.
 */
async function measureSignIn(world: World): Promise<Row[]> {
  const stand = await world.lean();
  const names = ['owner', ...Array.from({ length: STAFF }, (_, index) => `staff-${index + 1}`)];
  const emails = names.flatMap((name) => stand.pms.map((_, index) => `${name}@bench-${index + 1}.example`));
  const calls = emails.map((email, index) =>
    jsonCall(
      '/v1/auth/token/',
      { 'x-forwarded-for': `10.0.${index >> 8}.${index & 255}` },
      { email, password: OWNER_PASSWORD },
    ),
  );
  await using floor = startChild<VerifyJob, Slice>('floors/verify-password.ts');
  const runs = {
    subject: world.load({ url: stand.service.url, calls, connections: CONCURRENCY, status: 200 }),
    floor: (seconds: number) => floor.ask({ seconds, concurrency: CONCURRENCY, password: OWNER_PASSWORD }),
  };
  return [await world.row('token sign-in', stand, runs)];
}
