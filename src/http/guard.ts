import type { FastifyReply, FastifyRequest } from 'fastify';

/** Who may call a route: runs before anything of the request but its head is read, and throws 401, 403 or 429. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
