import type { Input } from '../../api/client.ts';

const STATUSES = ['pending', 'confirmed', 'preparing', 'ready', 'out_for_delivery'] as const;

/** Returns the minutes after which the house calls an order late, as far as this browser keeps them. The API knows the usual ones. */
export function lateMinutes(): NonNullable<Input<'getToday'>['query']> {
  try {
    const kept = JSON.parse(localStorage.getItem('roomservice.late') ?? '{}') as Record<string, unknown>;
    const given = STATUSES.filter((status) => Number(kept[status]) >= 1);
    return Object.fromEntries(given.map((status) => [`late_${status}`, Math.round(Number(kept[status]))]));
  } catch {
    return {};
  }
}
