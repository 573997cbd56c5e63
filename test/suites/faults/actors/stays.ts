import { dayAfter, dayAhead, RESERVATIONS, reservationPath, STAFF_RESERVATIONS } from '../../../support/hotel.ts';
import type { Actor, Client, Request } from '../client.ts';
import type { Creation } from '../history.ts';
import type { Random } from '../random.ts';
import type { Partner, RoomName } from '../tenants.ts';
import type { World } from '../world.ts';
import { cancel, changeAsStaff, create } from './settling.ts';

const FIRST_DAY = 20;
/** Number of different arrival days. The number is small, so that bookings compete for the same nights. */
const CONTENDED_DAYS = 12;
const RACERS = 8;
/** Night of the first race, in days from today. Each later race uses the next night. */
const FIRST_RACE_DAY = 100;
const RACE_DAYS = 9_000;

let booked = 0;
let raced = 0;

interface Stay {
  room: RoomName;
  checkIn: string;
  nights: number;
}

export function stayActor({ client, partners, random }: World): Actor {
  return {
    paceMs: 500,
    async act() {
      const checkIn = dayAhead(FIRST_DAY + random.below(CONTENDED_DAYS));
      const stay = { room: random.oneIn(2) ? 'Cabin' : 'Loft', checkIn, nights: 1 + random.below(3) } as const;
      const creation = begin(client, random.pick(partners));
      await create(client, creation, booking(creation, stay));
      if (creation.successes.length > 0) {
        await moveAlong(client, creation, random);
      }
    },
  };
}

/**
 * Returns a simulated client that makes more concurrent bookings for one night than it has rooms. The service must accept one booking for
 * each room and refuse the others (invariant 3).
 */
export function raceActor({ client, partners, random }: World): Actor {
  return {
    paceMs: 3_000,
    async act() {
      const { tenant } = random.pick(partners);
      const ofTenant = partners.filter((partner) => partner.tenant === tenant);
      const night = dayAfter(dayAhead(FIRST_RACE_DAY), raced % RACE_DAYS);
      raced += 1;
      const creations = Array.from({ length: RACERS }, () => begin(client, random.pick(ofTenant)));
      const stay = { room: 'Hall', checkIn: night, nights: 1 } as const;
      await Promise.all(creations.map((creation) => create(client, creation, booking(creation, stay))));
      client.history.races.push({ night, capacity: tenant.rooms.Hall.capacity, creations });
    },
  };
}

function begin(client: Client, partner: Partner): Creation {
  booked += 1;
  return client.history.begin('reservation', partner, `${partner.tenant.marker}-stay-${booked}`);
}

async function moveAlong(client: Client, creation: Creation, random: Random): Promise<void> {
  const asStaff = async (status: string) => await changeAsStaff(client, creation, status, STAFF_RESERVATIONS);
  const lot = random.below(10);
  if (lot < 6) {
    await cancel(client, creation, reservationPath);
  } else if (lot < 7) {
    await asStaff('no_show');
    await asStaff('cancelled');
  } else if (lot < 9) {
    await asStaff('cancelled');
  }
}

function booking({ partner, externalId }: Creation, { room, checkIn, nights }: Stay): Request {
  const json = {
    external_reservation_id: externalId,
    room_type_id: partner.tenant.rooms[room].id,
    check_in: checkIn,
    check_out: dayAfter(checkIn, nights),
    guest: { name: `Guest of ${partner.tenant.marker}`, phone: '+351 1' },
  };
  return { method: 'POST', path: RESERVATIONS, options: { headers: partner.headers, json } };
}
