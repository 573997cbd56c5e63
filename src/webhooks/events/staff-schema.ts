import Type from 'typebox';
import { KeysetQuery } from '#platform/http/keyset-page.ts';
import { idsQuery } from '#platform/http/search-query.ts';
import { oneOf, uuid } from '#platform/lib/fields.ts';
import { EVENTS } from './catalogue.ts';
import { EVENT_TYPES } from './event-types.ts';
import { FeedEntry, SUCCESSFUL_ATTEMPT } from './schema.ts';

const PARTNER = '01a19b98-4e38-7e26-9b6f-564601a1fe8d';

const { example } = EVENTS['order.status_changed'];
const { event, event_id, occurred_at, data, delivery } = FeedEntry.properties;

export const StaffEvent = Type.Object(
  {
    event_id,
    event,
    occurred_at,
    data,
    credential_id: uuid('The id of the credential that the event belongs to.'),
    delivery,
  },
  {
    title: 'StaffEvent',
    description: 'An event of any partner, and the state of its delivery.',
    examples: [
      {
        event_id: example.event_id,
        event: example.event,
        occurred_at: example.occurred_at,
        data: example.data,
        credential_id: PARTNER,
        delivery: { status: 'delivered', attempts: [SUCCESSFUL_ATTEMPT] },
      },
    ],
  },
);
export type StaffEvent = Type.Static<typeof StaffEvent>;

export const StaffEventQuery = Type.Object({
  ...KeysetQuery.properties,
  credential_id: Type.Optional(uuid('Lists only events of this credential.', PARTNER)),
  type: Type.Optional(oneOf(EVENT_TYPES, 'Lists only events with this name.', example.event)),
  ids: idsQuery(
    'Lists only the events with these ids: up to 50 `event_id`s with commas between them.',
    example.event_id,
  ),
});
export type StaffEventQuery = Type.Static<typeof StaffEventQuery>;
