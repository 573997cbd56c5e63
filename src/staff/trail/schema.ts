import Type from 'typebox';
import { KeysetQuery } from '#platform/http/keyset-page.ts';
import { textUpTo, time, uuid } from '#platform/lib/fields.ts';

const filter = (description: string, example: string) =>
  Type.Optional(textUpTo(100, description, { minLength: 1, example }));

export const AuditQuery = Type.Object({
  ...KeysetQuery.properties,
  action: filter(
    'Lists only entries of this kind of action. An unknown kind gives an empty list.',
    'credential.created',
  ),
  actor_id: Type.Optional(
    uuid(
      'Lists only actions of the user, the display or the credential with this id.',
      '01a19b53-7418-74c1-8296-97ee358715d3',
    ),
  ),
  subject: filter(
    'Lists only entries with this subject. An unknown subject gives an empty list.',
    '01a19ba3-06dd-70cc-97b6-3f6768cc519b',
  ),
  from: Type.Optional(time('Lists only actions at this time or later.', '2026-11-20T00:00:00Z')),
  to: Type.Optional(time('Lists only actions before this time.', '2026-11-21T00:00:00Z')),
});
export type AuditQuery = Type.Static<typeof AuditQuery>;
