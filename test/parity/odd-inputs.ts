import { dayAfter, openSmallHotel, type TestHotel } from '../support/hotel.ts';
import type { TestService } from '../support/service.ts';

const CAPACITY = { Double: 3, Suite: 4 };
export const FIRST_DAY = '2031-02-20';

const ODD_TEXTS = ['', '"', "it's", '\\', '{"a": [1, null]}', 'é🍕\n\t', 'NULL', '{1,2}', '00012', ' x ', '\u2028'];

/** Three tenants with equal hotels. The input with the number `index` belongs to the tenant with the number `index % 3`. */
export class Hotels {
  readonly all: TestHotel[];

  private constructor(all: TestHotel[]) {
    this.all = all;
  }

  static async open(service: TestService): Promise<Hotels> {
    const open = () =>
      openSmallHotel(service, [
        {
          name: 'Double',
          max_occupancy: 2,
          physical_capacity: CAPACITY.Double,
          rate_plans: [
            { name: 'Flexible', base_price: '100.00' },
            { name: 'Closed', base_price: '90.5', is_active: false },
          ],
        },
        { name: 'Suite', max_occupancy: 4, physical_capacity: CAPACITY.Suite, rate_plans: [] },
      ]);
    return new Hotels(await Promise.all([open(), open(), open()]));
  }

  at(index: number): TestHotel {
    return this.all[index % this.all.length] as TestHotel;
  }

  roomTypeAt(index: number): string {
    return this.at(index).roomTypes[nameAt(index)] ?? '';
  }
}

function nameAt(index: number): 'Double' | 'Suite' {
  return index % 2 === 0 ? 'Double' : 'Suite';
}

/** Returns the number of rooms of the room type that `Hotels.roomTypeAt` returns for this index. */
export function capacityAt(index: number): number {
  return CAPACITY[nameAt(index)];
}

export function times<Made>(count: number, make: (index: number) => Made): Made[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

export function oddText(index: number): string {
  return ODD_TEXTS[index % ODD_TEXTS.length] as string;
}

/** Returns a different instant for each index: 1 January 2031, 00:00 UTC, plus `index` times 7,919 ms. */
export function instantAt(index: number): Date {
  return new Date(Date.UTC(2031, 0, 1, 0, 0, 0, index * 7_919));
}

export function dayAt(index: number): string {
  return dayAfter(FIRST_DAY, index);
}

/**
 * Returns an object in which the field `name` is missing, null or an unusual text. These three cases repeat in this order as `index` grows.
 * `turn` is the case for index 0: 0 for a missing field, 1 for null, and 2 for a text. So two fields with different `turn` are never
 * missing in the same input.
 */
export function optional<Name extends string>(name: Name, index: number, turn: number): Record<Name, string | null> {
  const choice = (index + turn) % 3;
  const field = choice === 0 ? {} : { [name]: choice === 1 ? null : `${name} ${oddText(index)}` };
  return field as Record<Name, string | null>;
}
