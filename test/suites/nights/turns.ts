import fc from 'fast-check';
import { type Call, type Hotel, type Nights, type Stay } from './model.ts';

/** Index of one of the two hotels, or of one of the two nodes. */
const either = fc.nat({ max: 1 });
const day = fc.integer({ min: -2, max: 5 });
const length = fc.oneof({ weight: 12, arbitrary: fc.integer({ min: 1, max: 4 }) }, { weight: 1, arbitrary: fc.nat(0) });
/** The room type 2 belongs to the other hotel. */
const anyRoomType = fc.oneof({ weight: 15, arbitrary: either }, { weight: 1, arbitrary: fc.constant(2) });
const nights = fc.record({ roomType: anyRoomType, from: day, length });
/** A small number often names a stay that exists already. */
const name = fc.oneof({ weight: 4, arbitrary: fc.nat(99) }, { weight: 1, arbitrary: fc.nat(1) });
/** Selects one of the stays that exist before a turn. The stay may belong to the other hotel. */
const target = fc.record({ position: fc.nat(999), isOfOther: fc.nat(19).map((number) => number === 0) });
const rarely = fc.nat(4).map((number) => number === 0);
const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const move = fc.constantFrom(-2, -1, 1, 2);

const booking = fc.record({ do: fc.constant('book' as const), name, nights });
const walkIn = fc.record({ do: fc.constant('walk in' as const), name, nights, overbook: rarely });
const telling = fc.record({
  do: fc.constant('tell' as const),
  // There are only a few names. So most calls of an OTA change a stay, and concurrent calls often change the same stay.
  name: fc.nat(5),
  nights,
  status: fc.constantFrom('confirmed', 'confirmed', 'pending', 'completed', 'cancelled', 'no_show', 'expired'),
  later: fc.constantFrom(1, 1, 1, 0, -1),
});
const cancelling = fc.record({ do: fc.constant('cancel' as const), target });
const moving = fc.record({
  do: fc.constant('move' as const),
  target,
  status: fc.constantFrom('cancelled', 'completed', 'no_show', 'confirmed', 'expired'),
});
const changing = fc.record({
  do: fc.constant('change' as const),
  target,
  isOfHouse: fc.nat(3).map((number) => number > 0),
  roomType: sometimes(anyRoomType),
  from: sometimes(move),
  to: sometimes(move),
  overbook: rarely,
});
const leaving = fc.record({ do: fc.constant('leave' as const), target, to: fc.nat(3) });
const looking = fc.record({ do: fc.constant('look' as const), roomType: either });
const quoting = fc.record({ do: fc.constant('quote' as const), nights });
const resizing = fc.record({
  do: fc.constant('resize' as const),
  roomType: either,
  capacity: fc.nat(4),
  by: fc.constantFrom('owner', 'document'),
});
const closing = fc.record({ do: fc.constant('close' as const), roomType: either, from: day, isClosed: fc.boolean() });

const ofStays = fc.oneof(
  { weight: 5, arbitrary: booking },
  { weight: 3, arbitrary: walkIn },
  { weight: 3, arbitrary: telling },
  { weight: 3, arbitrary: cancelling },
  { weight: 2, arbitrary: moving },
  { weight: 3, arbitrary: changing },
  { weight: 2, arbitrary: leaving },
  { weight: 1, arbitrary: looking },
  { weight: 1, arbitrary: quoting },
);
const ofHouse = fc.oneof({ weight: 1, arbitrary: resizing }, { weight: 2, arbitrary: closing });
const placed = <T>(intent: fc.Arbitrary<T>) => fc.record({ hotel: either, node: either, intent });
type Intent = typeof ofStays | typeof ofHouse extends fc.Arbitrary<infer T> ? T : never;
/** Call that does not yet name the stay that it is about. */
export interface Wish {
  hotel: number;
  node: number;
  intent: Intent;
}

/** Bookings on one node, which writes them in one transaction. */
const rush = fc
  .record({
    node: either,
    bookings: fc.array(fc.record({ hotel: either, intent: booking }), { minLength: 3, maxLength: 7 }),
  })
  .map(({ node, bookings }) => bookings.map((each): Wish => ({ ...each, node })));
/** Changes of one stay, of which the first may make the others impossible. */
const dispute = fc
  .record({
    hotel: either,
    position: fc.nat(999),
    changes: fc.array(
      fc.record({ node: either, intent: fc.oneof(cancelling, cancelling, moving, changing, leaving) }),
      { minLength: 3, maxLength: 6 },
    ),
  })
  .map(({ hotel, position, changes }) =>
    changes.map(
      ({ node, intent }): Wish => ({ hotel, node, intent: { ...intent, target: { position, isOfOther: false } } }),
    ),
  );
const alone = fc.oneof({ weight: 8, arbitrary: ofStays }, { weight: 1, arbitrary: ofHouse });
/**
 * Wishes of one turn are sent at the same time. A new capacity or a closed night is alone in its turn, because a booking at the same time
 * may read the values from before the change.
 */
const turn: fc.Arbitrary<Wish[]> = fc.oneof(
  { weight: 8, arbitrary: placed(alone).map((wish) => [wish]) },
  { weight: 2, arbitrary: fc.array(placed(ofStays), { minLength: 2, maxLength: 7 }) },
  { weight: 1, arbitrary: rush },
  { weight: 1, arbitrary: dispute },
);
export const turns = fc.array(turn, { minLength: 1, maxLength: 60, size: 'max' });

/** Key that no stay has. */
const NONE = 'none';

/** Returns the call that fulfils the wish in the hotel, with the hotel in which its stay is. */
export function callOf(hotels: Hotel[], { hotel, intent }: Wish): { call: Call; ofHotel: number } {
  const ofHotel = 'target' in intent && intent.target.isOfOther ? 1 - hotel : hotel;
  return { call: fulfil(hotels[ofHotel] as Hotel, intent), ofHotel };
}

function fulfil({ stays, capacities }: Hotel, intent: Intent): Call {
  switch (intent.do) {
    case 'book':
      return { do: 'book', key: `stay ${intent.name}`, ...nightsOf(intent.nights) };
    case 'walk in':
      return { do: 'walk in', key: `guest ${intent.name}`, ...nightsOf(intent.nights), overbook: intent.overbook };
    case 'tell': {
      const key = `ota ${intent.name}`;
      const second = (stays.get(key)?.second ?? 0) + intent.later;
      return { do: 'tell', key, ...nightsOf(intent.nights), status: intent.status, second };
    }
    case 'cancel':
      return { do: 'cancel', key: select(stays, intent.target.position, 'partner')[0] };
    case 'move':
      return { do: 'move', key: select(stays, intent.target.position)[0], status: intent.status as Stay['status'] };
    case 'change':
      return changeOf(stays, intent);
    case 'leave': {
      const [key, stay] = select(stays, intent.target.position);
      return { do: 'change', key, to: (stay?.to ?? 0) - intent.to };
    }
    case 'look':
      return { do: 'look', roomType: intent.roomType, from: -2, to: 12 };
    case 'quote':
      return { do: 'quote', ...nightsOf(intent.nights) };
    case 'resize':
      return { do: 'resize', capacities: capacities.with(intent.roomType, intent.capacity), by: intent.by as 'owner' };
    case 'close':
      return { ...intent, to: intent.from + 2 };
  }
}

function changeOf(stays: Hotel['stays'], intent: Intent & { do: 'change' }): Call {
  const { roomType, from, to, overbook, isOfHouse } = intent;
  const [key, stay] = select(stays, intent.target.position, isOfHouse ? 'house' : undefined);
  return {
    do: 'change',
    key,
    ...(roomType === undefined ? {} : { roomType }),
    ...(from === undefined ? {} : { from: (stay?.from ?? 0) + from }),
    ...(to === undefined ? {} : { to: (stay?.to ?? 0) + to }),
    ...(overbook ? { overbook } : {}),
  };
}

/** Selects a stay. If it has another source than the given one, selects among the stays with this source. */
function select(stays: Hotel['stays'], position: number, source?: Stay['source']): [string, Stay?] {
  const all = [...stays];
  const selected = all[position % Math.max(1, all.length)];
  if (selected === undefined || source === undefined || selected[1].source === source) {
    return selected ?? [NONE];
  }
  const ofSource = all.filter(([, stay]) => stay.source === source);
  return ofSource[position % Math.max(1, ofSource.length)] ?? [NONE];
}

function nightsOf({ roomType, from, length: count }: { roomType: number; from: number; length: number }): Nights {
  return { roomType, from, to: from + count };
}
