// The floor of a sign-in: the check of one password, argon2id at the service's cost, and nothing else.
import { hashPassword, isPassword } from '#access/tenants/passwords.ts';
import { answerJobs } from '../child.ts';
import type { Slice } from '../load-worker.ts';
import { closedLoop } from './closed-loop.ts';

export interface VerifyJob {
  seconds: number;
  atOnce: number;
  password: string;
}

answerJobs(async ({ seconds, atOnce, password }: VerifyJob): Promise<Slice> => {
  const hash = await hashPassword(password);
  return await closedLoop({ lanes: atOnce, seconds }, async () => {
    if (!(await isPassword(password, hash))) {
      throw new Error('the password is not its own');
    }
  });
});
