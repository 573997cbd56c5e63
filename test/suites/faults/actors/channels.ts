import { setTimeout as sleep } from 'node:timers/promises';
import { channelHeaders, nowSeconds, RECEIVER } from '../../../support/channel.ts';
import { dayAfter, dayAhead } from '../../../support/hotel.ts';
import type { Actor, Client, Request } from '../client.ts';
import type { OtaStay } from '../history.ts';
import type { Tenant } from '../tenants.ts';
import type { World } from '../world.ts';

const FIRST_DAY = 20;
const DAYS = 12;
const CLOCK_RETRIES = 100;

let sentCount = 0;

/** Returns a simulated booking site (OTA) that sends, changes and cancels reservations of the room type Loft. */
export function channelActor({ client, tenants, random }: World): Actor {
  return {
    paceMs: 800,
    async act() {
      const tenant = random.pick(tenants);
      sentCount += 1;
      const externalId = `${tenant.marker}-ota-${sentCount}`;
      const stay: OtaStay = { source: tenant.channel.source, externalId, lastSent: null, id: null };
      client.history.otaStays.push(stay);
      const later = random.oneIn(2) ? ['confirmed'] : ['confirmed', 'cancelled'];
      for (const status of ['confirmed', ...later]) {
        const checkIn = dayAhead(FIRST_DAY + random.below(DAYS));
        const wanted = { status, check_in: checkIn, check_out: dayAfter(checkIn, 1 + random.below(2)) };
        await sendReservation(client, tenant, stay, wanted);
      }
    },
  };
}

async function sendReservation(
  client: Client,
  tenant: Tenant,
  stay: OtaStay,
  wanted: NonNullable<OtaStay['lastSent']>,
) {
  const { externalId } = stay;
  const body = JSON.stringify({
    external_id: externalId,
    room_type_id: tenant.rooms.Loft.id,
    guest: { full_name: `Guest of ${tenant.marker}` },
    ...wanted,
  });
  const options = { headers: channelHeaders(tenant.channel, body, { at: nowSeconds() }), body };
  const answer = await settleAcrossClocks(client, tenant, { method: 'POST', path: RECEIVER, options });
  stay.id ??= answer.body?.id ?? null;
  if (answer.status >= 300 || stay.id !== answer.body.id) {
    client.history.surprises.push(`${RECEIVER} ${externalId}, first ${stay.id}: ${answer.status} ${answer.text}`);
  } else {
    stay.lastSent = wanted;
  }
}

/**
 * Sends a call. A process whose clock a fault has set an hour ahead finds the signature too old, and correctly responds with 401. So during
 * this fault, the call is repeated until it reaches a process with the right time.
 */
async function settleAcrossClocks(client: Client, tenant: Tenant, request: Request) {
  for (let tries = 1; ; tries += 1) {
    const { answer } = await client.settle(tenant, request);
    if (answer.status !== 401 || tries === CLOCK_RETRIES || !client.history.isClockOff) {
      return answer;
    }
    await sleep(50);
  }
}
