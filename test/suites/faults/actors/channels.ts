import { setTimeout as sleep } from 'node:timers/promises';
import { channelHeaders, nowSeconds, RECEIVER } from '../../../support/channel.ts';
import { dayAfter, dayAhead } from '../../../support/hotel.ts';
import type { Actor, Client, Request } from '../client.ts';
import type { OtaStay } from '../history.ts';
import type { Random } from '../random.ts';
import type { Tenant } from '../tenants.ts';

const FIRST_DAY = 20;
const DAYS = 12;
const CLOCK_RETRIES = 100;

let sentCount = 0;

/**
 * Returns a simulated booking site (OTA) that sends, changes and cancels reservations of the room type Loft. It repeats a call that got no
 * response.
 */
export function channelActor(client: Client, tenants: readonly Tenant[], random: Random): Actor {
  return {
    name: 'channels',
    paceMs: 800,
    async act() {
      const tenant = random.pick(tenants);
      sentCount += 1;
      const externalId = `${tenant.marker}-ota-${sentCount}`;
      const stay: OtaStay = { tenant, source: tenant.channel.source, externalId, lastSent: null, id: null };
      client.history.otaStays.push(stay);
      const later = random.oneIn(2) ? ['confirmed'] : ['confirmed', 'cancelled'];
      for (const status of ['confirmed', ...later]) {
        const checkIn = dayAhead(FIRST_DAY + random.below(DAYS));
        await sendReservation(client, stay, {
          status,
          check_in: checkIn,
          check_out: dayAfter(checkIn, 1 + random.below(2)),
        });
      }
    },
  };
}

async function sendReservation(client: Client, stay: OtaStay, wanted: NonNullable<OtaStay['lastSent']>): Promise<void> {
  const { tenant, externalId } = stay;
  const body = JSON.stringify({
    external_id: externalId,
    room_type_id: tenant.rooms.Loft.id,
    guest: { full_name: `Guest of ${tenant.marker}` },
    ...wanted,
  });
  const options = { headers: channelHeaders(tenant.channel, body, { at: nowSeconds() }), body };
  const answer = await settleAcrossClocks(client, tenant, { method: 'POST', path: RECEIVER, options });
  if (answer.status < 300) {
    stay.lastSent = wanted;
    stay.id ??= answer.body.id;
    if (stay.id !== answer.body.id) {
      client.history.surprises.push(`${RECEIVER} ${externalId}: first ${stay.id}, then ${answer.body.id}`);
    }
  } else {
    client.history.surprises.push(`${RECEIVER} ${externalId}: ${answer.status} ${answer.text}`);
  }
}

/**
 * Sends a call. One fault of the suite sets the clocks of some processes an hour ahead. Such a process finds the signature too old, and
 * correctly responds with 401. So during this fault, the function repeats a call that got 401, because the next try may reach a process
 * with the right time. It makes at most 100 tries.
 * @returns the first response without status 401. If the last try gets 401, or if the fault is not active, returns the response with 401
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
