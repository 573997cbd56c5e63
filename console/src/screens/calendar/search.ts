import { dateOf, textsOf } from '../../ui/search.ts';

/** What the screen shows, as the address has it. */
export interface CalendarSearch {
  property?: string;
  /** First night. Missing: today. */
  from?: string;
  /** Number of nights. Missing: 14. */
  nights?: 28 | 90;
  /** Night in the drawer: `<room type>.<date>`. */
  night?: string;
}

const NIGHT = /^[\da-f-]{36}\.\d{4}-\d\d-\d\d$/;

export function validateCalendarSearch(search: Record<string, unknown>): CalendarSearch {
  const { property, from, nights, night = '' } = textsOf(search, ['property', 'from', 'nights', 'night']);
  return {
    property,
    from: dateOf(from),
    nights: ([28, 90] as const).find((each) => String(each) === nights),
    night: NIGHT.test(night) ? night : undefined,
  };
}
