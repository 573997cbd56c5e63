import type { Bug } from './bug.ts';

/** Planted bugs in the code of `src/hotel/`. */
export const HOTEL_BUGS: Bug[] = [
  {
    name: 'repeat changes the stay again',
    harm: 'a repeated change with another status changes the stay and writes a second event',
    edits: [
      {
        file: 'src/hotel/reservations/reservations.ts',
        find: 'requestId === row.status_request_id)',
        replace: 'requestId === row.status_request_id && change.status === row.status)',
      },
    ],
    suites: ['src/hotel/reservations/repeated-changes.test.ts'],
  },
  {
    name: 'guest without an address',
    harm: 'a guest gets no mail',
    edits: [
      {
        file: 'src/hotel/reservations/store.ts',
        find: "['status_request_id', 'arrived_at']",
        replace: "['status_request_id', 'arrived_at', 'guest_email']",
      },
    ],
    suites: ['src/hotel/reservations/store.test.ts'],
  },
  {
    name: 'one event for a batch',
    harm: 'the platform gets one event for several bookings that arrived together',
    edits: [
      {
        file: 'src/hotel/reservations/book.ts',
        find: 'await record(...booked.flatMap(',
        replace: 'await record(...booked.slice(0, 1).flatMap(',
      },
    ],
    suites: ['src/hotel/reservations/batched-bookings.test.ts'],
  },
  {
    name: 'cancelled nights kept',
    harm: 'the rooms of cancelled stays are never sold again',
    edits: [
      {
        file: 'src/hotel/reservations/changes.ts',
        find: 'await moveHold(tx, holdOf(row), ',
        replace: 'await moveHold(tx, holdOf(changed) && holdOf(row), ',
      },
    ],
    suites: ['test/suites/nights/nights.test.ts'],
  },
  {
    name: 'nights of the old room type',
    harm: 'a stay that moves to another room type holds the nights of the old room type',
    edits: [
      {
        file: 'src/hotel/reservations/changes.ts',
        find: 'holdOf(row), holdOf(changed), capacity)',
        replace: 'holdOf(row), holdOf({ ...changed, room_type_id: row.room_type_id }), capacity)',
      },
    ],
    suites: ['test/suites/nights/nights.test.ts'],
  },
  {
    name: 'stay of another tenant',
    harm: 'staff change a stay of another hotel, if they have its id',
    edits: [
      {
        file: 'src/hotel/reservations/store.ts',
        find: ".where('tenant_id', '=', tenantId)\n    .where('id', '=', id)\n    .forUpdate()",
        replace: ".where('id', '=', id)\n    .forUpdate()",
      },
    ],
    suites: ['test/suites/nights/nights.test.ts'],
  },
  {
    name: 'stay without a lock',
    harm: 'two changes of a stay at the same time release its nights twice',
    edits: [
      {
        file: 'src/hotel/reservations/store.ts',
        find: "    .where('id', '=', id)\n    .forUpdate()\n",
        replace: "    .where('id', '=', id)\n",
      },
    ],
    suites: ['test/suites/nights/nights.test.ts'],
  },
  {
    name: 'one room a night',
    harm: 'two rooms that are booked together count as one',
    edits: [
      { file: 'src/hotel/nights/nights.ts', find: 'sum.held += rooms;', replace: 'sum.held = Math.sign(rooms);' },
    ],
    suites: ['src/hotel/reservations/batched-bookings.test.ts'],
  },
  {
    name: 'one room too many',
    harm: 'the last room is sold twice',
    edits: [
      {
        file: 'src/hotel/nights/store.ts',
        find: 'n.held + excluded.held <= ${capacityIn(changes)}',
        replace: 'n.held <= ${capacityIn(changes)}',
      },
    ],
    suites: ['test/suites/nights/nights.test.ts'],
  },
  {
    name: 'refused nights of the hotel itself',
    harm: 'staff sell a room that does not exist, although they do not overbook',
    edits: [
      {
        file: 'src/hotel/nights/nights.ts',
        find: 'return (await changeCounters(tx, all)).length === all.length;',
        replace: 'await changeCounters(tx, all);\n  return true;',
      },
    ],
    suites: ['test/suites/nights/nights.test.ts'],
  },
  {
    name: 'night of the arrival',
    harm: 'a room appears free on a night that is full',
    edits: [
      {
        file: 'src/hotel/nights/store.ts',
        find: 'AND date >= ${check_in} AND date < ${check_out}\n',
        replace: 'AND date > ${check_in} AND date < ${check_out}\n',
      },
    ],
    suites: ['src/hotel/reservations/batched-lookups.test.ts'],
  },
  {
    name: 'price replaced by a restriction',
    harm: 'a stop-sell resets the price of its night',
    edits: [
      {
        file: 'src/hotel/rates/store.ts',
        find: "price === 'keep' ? 'rate.price' : 'given.price'",
        replace: "'given.price'",
      },
    ],
    suites: ['test/suites/parity/many-stays.test.ts'],
  },
  {
    name: 'quote of a full night',
    harm: 'a partner gets a price for a stay that it cannot book',
    edits: [
      {
        file: 'src/hotel/reservations/reservations.ts',
        find: 'night.held >= roomType.physical_capacity',
        replace: 'night.held > roomType.physical_capacity',
      },
    ],
    suites: ['src/hotel/reservations/quotes-and-bookings.test.ts'],
  },
  {
    name: 'expected values ignored',
    harm: 'staff overwrite a price that the PMS has changed meanwhile',
    edits: [
      {
        file: 'src/hotel/rates/rate-changes.ts',
        find: '    refuseUnexpected(changes, stateOf);\n',
        replace: '',
      },
    ],
    suites: ['src/hotel/rates/staff-rates.test.ts'],
  },
  {
    name: 'dry run that writes',
    harm: 'staff change prices that they only wanted to check',
    edits: [
      {
        file: 'src/hotel/rates/rate-changes.ts',
        find: 'input.dry_run !== true && ',
        replace: '',
      },
    ],
    suites: ['src/hotel/rates/staff-rates.test.ts'],
  },
  {
    name: 'rate plans without a lock',
    harm: 'of two changes at the same time, one is lost or fails',
    edits: [
      {
        file: 'src/hotel/rates/store.ts',
        find: "    .orderBy('id')\n    .forNoKeyUpdate()\n",
        replace: "    .orderBy('id')\n",
      },
    ],
    suites: ['src/hotel/rates/staff-rates-race.test.ts'],
  },
  {
    name: 'all rates in one plan',
    harm: 'a change of several rate plans writes all prices to the first of them',
    edits: [
      {
        file: 'src/hotel/rates/store.ts',
        find: ', sql`given.rate_plan_id`]',
        replace: ', sql`${planIds[0]}::uuid`]',
      },
    ],
    suites: ['test/suites/parity/many-stays.test.ts'],
  },
  {
    name: 'nights at the base price',
    harm: 'a stay is sold at the base price of its plan, even if a night has another price',
    edits: [
      {
        file: 'src/hotel/rates/store.ts',
        find: 'SELECT date, price::text, is_sold_out FROM rate',
        replace: 'SELECT date, NULL AS price, is_sold_out FROM rate',
      },
    ],
    suites: ['src/hotel/reservations/batched-lookups.test.ts'],
  },
  {
    name: 'closed nights for sale',
    harm: 'a night that is closed in every plan is shown as free',
    edits: [
      {
        file: 'src/hotel/rates/store.ts',
        find: 'AND date < ${check_out} AND is_sold_out',
        replace: 'AND date < ${check_out} AND NOT is_sold_out',
      },
    ],
    suites: ['src/hotel/reservations/batched-lookups.test.ts'],
  },
];
