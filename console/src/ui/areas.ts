import type { Area, Feature } from '../api/session.ts';

interface AreaWords {
  area: Area;
  label: string;
  /** What a person or a display with the area sees and does. */
  text: string;
  /** Feature of the house without which the area is of no use. */
  feature?: Feature;
}

/** Areas of the staff API in words, in the order of the API. */
export const AREAS: AreaWords[] = [
  { area: 'orders', label: 'Orders', text: 'Board and list: accept, cancel, pause.', feature: 'restaurant' },
  { area: 'menu', label: 'Menu', text: 'Dishes, prices, what is sold out.', feature: 'restaurant' },
  { area: 'hotel', label: 'Stays', text: 'Guests, arrivals, bookings, calendar.', feature: 'hotel' },
  { area: 'rates', label: 'Room prices', text: 'Prices and closed nights, with Stays.', feature: 'hotel' },
  { area: 'deliveries', label: 'Deliveries', text: 'What partners were sent and answered.' },
];

/** What a person or a display may use. */
export function rightsInWords({ role, areas }: { role?: string | undefined; areas: readonly Area[] }): string {
  if (role === 'owner') return 'Everything';
  const words = AREAS.filter(({ area }) => areas.includes(area)).map(({ label }) => label);
  return words.length === 0 ? 'Nothing yet' : words.join(', ');
}
