import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Staff } from '#access/tenants/tenants.ts';
import type { ChannelCall } from '#hotel/channels/channels.ts';
import { REQUEST } from '#platform/http/log.ts';
import type { LiveChanges } from '#staff/live-changes/live-changes.ts';

/**
 * Makes `liveChanges` read the changes of a tenant soon after a successful call that may have changed data of this tenant. So clients of
 * this process that watch the tenant get the change before the next regular poll.
 */
export function wakeAfterWrite(liveChanges: LiveChanges, request: FastifyRequest, reply: FastifyReply): void {
  const tenantId = tenantOf(request);
  if (request.method !== 'GET' && reply.statusCode < 400 && tenantId !== undefined) {
    liveChanges.wake(tenantId);
  }
}

/**
 * Callers of a request, as the guards set them. Fastify's type says that all of them are always present, because the routes use them only
 * after a guard. But each guard sets one of them, and a refused request has none.
 */
interface Called {
  caller?: Caller;
  staff?: Staff;
  channelCall?: ChannelCall;
}

function tenantOf(request: FastifyRequest): number | undefined {
  const { caller, staff, channelCall } = request as Called;
  return caller?.tenantId ?? staff?.tenant.id ?? channelCall?.tenantId;
}

/** Logs one line for a request, with the ids of the tenant and the caller. The line contains no header, no body and no query. */
export function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { caller, staff } = request as Called;
  request.log.info(
    {
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: reply.statusCode,
      // True if the response was not sent to its end, because the client closed the connection or the response failed. Otherwise undefined,
      // so the log line does not have this field.
      cut_off: reply.raw.writableFinished ? undefined : true,
      duration_ms: Math.round(reply.elapsedTime),
      tenant_id: tenantOf(request),
      credential_id: caller?.credentialId,
      user_id: staff?.type === 'person' ? staff.id : undefined,
      display_id: staff?.type === 'display' ? staff.id : undefined,
    },
    REQUEST,
  );
}
