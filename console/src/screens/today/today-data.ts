import type { Answer } from '../../api/client.ts';

/** The house now, as the API tells it in one answer. */
export type TodayData = Answer<'getToday'>;
