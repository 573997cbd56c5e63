// Floor (baseline without the service) of a sign-in: it only checks one password with argon2id, with the cost settings of the service.
import { hashPassword, isPassword } from '#access/tenants/passwords.ts';
import { answerJobs } from '../child.ts';
import type { Slice } from '../load-worker.ts';
import { closedLoop } from './closed-loop.ts';

export interface VerifyJob {
  seconds: number;
  concurrency: number;
  password: string;
}

answerJobs(async ({ seconds, concurrency, password }: VerifyJob): Promise<Slice> => {
  const hash = await hashPassword(password);
  return await closedLoop({ lanes: concurrency, seconds }, async () => {
    if (!(await isPassword(password, hash))) {
      throw new Error('The password does not match its own hash.');
    }
  });
});
