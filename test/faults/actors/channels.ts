import { setTimeout as sleep } from 'node:timers/promises';
import { channelHeaders, nowSeconds, RECEIVER } from '../../support/channel.ts';
import { dayAfter, dayAhead } from '../../support/hotel.ts';
import type { Actor, Client, Request } from '../client.ts';
import type { ToldStay } from '../history.ts';
import type { Random } from '../random.ts';
import type { Tenant } from '../tenants.ts';

const FIRST_DAY = 20;
const DAYS = 12;
const CLOCK_RETRIES = 100;

let told = 0;

/** An OTA that sells Lofts, changes its reservations and cancels some; it resends what it got no answer to. */
export function channelActor(client: Client, tenants: readonly Tenant[], random: Random): Actor {
  return {
    name: 'channels',
    paceMs: 800,
    async act() {
      const tenant = random.pick(tenants);
      told += 1;
      const externalId = `${tenant.marker}-ota-${told}`;
      const stay: ToldStay = { tenant, source: tenant.channel.source, externalId, told: null, id: null };
      client.history.toldStays.push(stay);
      const later = random.oneIn(2) ? ['confirmed'] : ['confirmed', 'cancelled'];
      for (const status of ['confirmed', ...later]) {
        const checkIn = dayAhead(FIRST_DAY + random.below(DAYS));
        await tell(client, stay, { status, check_in: checkIn, check_out: dayAfter(checkIn, 1 + random.below(2)) });
      }
    },
  };
}

async function tell(client: Client, stay: ToldStay, wanted: NonNullable<ToldStay['told']>): Promise<void> {
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
    stay.told = wanted;
    stay.id ??= answer.body.id;
    if (stay.id !== answer.body.id) {
      client.history.surprises.push(`${RECEIVER} ${externalId}: first ${stay.id}, then ${answer.body.id}`);
    }
  } else {
    client.history.surprises.push(`${RECEIVER} ${externalId}: ${answer.status} ${answer.text}`);
  }
}

/** A process whose clock is an hour off takes a fresh signature for an old one, and rightly refuses it: another one will not. */
async function settleAcrossClocks(client: Client, tenant: Tenant, request: Request) {
  for (let tries = 1; ; tries += 1) {
    const { answer } = await client.settle(tenant, request);
    if (answer.status !== 401 || tries === CLOCK_RETRIES || !client.history.isClockOff) {
      return answer;
    }
    await sleep(50);
  }
}
