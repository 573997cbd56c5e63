import Type from 'typebox';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { KeysetQuery } from '#platform/http/keyset-page.ts';
import { IDS_PATTERN } from '#platform/http/search-query.ts';
import { EVENTS } from './catalogue.ts';
import { EVENT_TYPES } from './event-types.ts';
import { FeedEntry } from './schema.ts';

const PARTNER = '01a19b98-4e38-7e26-9b6f-564601a1fe8d';

const EXAMPLE = EVENTS['order.status_changed'].example;
const { event, event_id, occurred_at, data, delivery } = FeedEntry.properties;

export const StaffEvent = Type.Object(
  {
    event_id,
    event,
    occurred_at,
    data,
    credential_id: Type.String({ format: 'uuid', description: 'The id of the credential that the event belongs to.' }),
    delivery,
  },
  {
    title: 'StaffEvent',
    description: 'An event of any partner, and the state of its delivery.',
    examples: [
      {
        event_id: EXAMPLE.event_id,
        event: 'order.status_changed',
        occurred_at: EXAMPLE.occurred_at,
        data: EXAMPLE.data,
        credential_id: PARTNER,
        delivery: {
          status: 'delivered',
          attempts: [{ at: '2026-11-20T18:49:15.211Z', http_status: 204, duration_ms: 38, error: null }],
        },
      },
    ],
  },
);
export type StaffEvent = Type.Static<typeof StaffEvent>;

export const StaffEventQuery = Type.Object({
  ...KeysetQuery.properties,
  credential_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Lists only events of this credential.', examples: [PARTNER] }),
  ),
  type: Type.Optional(
    Type.Enum([...EVENT_TYPES], {
      type: 'string',
      description: 'Lists only events with this name.',
      examples: ['order.status_changed'],
    }),
  ),
  ids: Type.Optional(
    Type.String({
      [DOCUMENTED]: { pattern: IDS_PATTERN },
      description: 'Lists only the events with these ids: up to 50 `event_id`s with commas between them.',
      examples: ['01a1fa4a-98c4-73e6-8f27-15b9a4c8d07e'],
    }),
  ),
});
export type StaffEventQuery = Type.Static<typeof StaffEventQuery>;
