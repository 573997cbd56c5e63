import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Staff } from '../tenants/tenants.ts';
import { setConsoleCookie } from './console-cookie.ts';
import type { NewSignIn, Sessions } from './sessions.ts';

/** Begins a session, and sets its cookie. @returns the caller that later calls with the cookie have */
export async function startSession(
  sessions: Sessions,
  request: FastifyRequest,
  reply: FastifyReply,
  signIn: Omit<NewSignIn, 'address' | 'userAgent'>,
): Promise<Staff> {
  const client = { address: request.ip, userAgent: request.headers['user-agent'] ?? '' };
  const { token, staff } = await sessions.start({ ...signIn, ...client });
  setConsoleCookie(request, reply, token, signIn.lifetime.cookieSeconds);
  return staff;
}
