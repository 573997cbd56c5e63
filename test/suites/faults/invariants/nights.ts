import { HOLDING_STATUSES } from '#hotel/reservations/reservation-status.ts';
import { PARTNER_ONLY_ROOMS } from '../tenants.ts';
import type { World } from '../world.ts';
import type { Invariant } from './invariant.ts';

interface CountedNight {
  room_type_id: string;
  date: string;
  held: number;
  counted: number;
}

/** Invariant 3. All night counters agree with the reservations, partners never oversell, and each race has as many winners as rooms. */
export const noOversell: Invariant = {
  promise: '3 no oversell',
  async check(world) {
    const nights = await recount(world);
    return [
      ...nights.filter(({ held, counted }) => held !== counted).map(describe),
      ...beyondCapacity(world, nights),
      ...faultsOfRaces(world),
    ];
  },
};

async function recount({ postgres }: World): Promise<CountedNight[]> {
  return await postgres.query<CountedNight>(
    `
      WITH counted AS (
        SELECT r.tenant_id, r.room_type_id, day::date AS date, count(*)::int AS counted
        FROM reservation AS r, generate_series(r.check_in, r.check_out - 1, interval '1 day') AS day
        WHERE r.status = ANY ($1) GROUP BY 1, 2, 3
      )
      SELECT room_type_id, date::text, coalesce(held, 0) AS held, coalesce(counted, 0) AS counted
      FROM counted FULL JOIN night USING (tenant_id, room_type_id, date)
    `,
    [HOLDING_STATUSES],
  );
}

function describe({ room_type_id, date, held, counted }: CountedNight): string {
  return `room type ${room_type_id}, ${date}: the counter holds ${held} rooms, but the reservations hold ${counted}`;
}

function beyondCapacity({ tenants }: World, nights: CountedNight[]): string[] {
  const rooms = tenants.flatMap((tenant) => PARTNER_ONLY_ROOMS.map((name) => tenant.rooms[name]));
  const capacities = new Map(rooms.map(({ id, capacity }) => [id, capacity]));
  return nights
    .filter(({ room_type_id, counted }) => counted > (capacities.get(room_type_id) ?? Number.POSITIVE_INFINITY))
    .map((night) => `sold beyond capacity ${capacities.get(night.room_type_id)}: ${describe(night)}`);
}

function faultsOfRaces({ history }: World): string[] {
  return history.races.flatMap(({ night, capacity, creations }) => {
    const winners = creations.filter(({ successes }) => successes.length > 0).length;
    if (winners === capacity || creations.some(({ isSettled }) => !isSettled)) {
      return [];
    }
    return [`${creations.length} bookings competed for ${capacity} rooms of ${night}, and ${winners} succeeded`];
  });
}
