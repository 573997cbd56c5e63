import Type from 'typebox';
import { KeysetQuery } from '#platform/http/keyset-page.ts';

export const AuditQuery = Type.Object({
  ...KeysetQuery.properties,
  action: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Lists only entries of this kind of action. An unknown kind gives an empty list.',
      examples: ['credential.created'],
    }),
  ),
  actor_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Lists only actions of the user, the display or the credential with this id.',
      examples: ['01a19b53-7418-74c1-8296-97ee358715d3'],
    }),
  ),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Lists only entries with this subject. An unknown subject gives an empty list.',
      examples: ['01a19ba3-06dd-70cc-97b6-3f6768cc519b'],
    }),
  ),
  from: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Lists only actions at this time or later.',
      examples: ['2026-11-20T00:00:00Z'],
    }),
  ),
  to: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Lists only actions before this time.',
      examples: ['2026-11-21T00:00:00Z'],
    }),
  ),
});
export type AuditQuery = Type.Static<typeof AuditQuery>;
