import { anyText, dateOf, searchOf } from '../../ui/search.ts';

export const validateCalendarSearch = searchOf({
  property: anyText,
  /** First night. Missing: today. */
  from: dateOf,
  /** Number of nights. Missing: 14. */
  nights: (text) => ([28, 90] as const).find((each) => String(each) === text),
  /** `<room type>.<date>`. */
  night: (text) => (dateOf(text?.split('.')[1]) === undefined ? undefined : text),
});
export type CalendarSearch = ReturnType<typeof validateCalendarSearch>;
