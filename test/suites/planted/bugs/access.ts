import type { Bug } from './bug.ts';

/** Planted bugs in the code of `src/access/`. */
export const ACCESS_BUGS: Bug[] = [
  {
    name: 'a session cookie counts without its header',
    harm: 'a page of another host of the same domain acts as the person who is signed in',
    edits: [
      {
        file: 'src/access/sessions/console-cookie.ts',
        find: "headers[CONSOLE_HEADER.toLowerCase()] === '1' && ",
        replace: '',
      },
    ],
    suites: ['src/access/sessions/use.test.ts'],
  },
  {
    name: 'a sign-out only clears the cookie',
    harm: 'a stolen cookie opens the tenant after the person has signed out',
    edits: [
      {
        file: 'src/access/sessions/store.ts',
        find: '(s.ended_at IS NULL\n  AND s.last_used_at',
        replace: '(s.last_used_at',
      },
    ],
    suites: ['src/access/sessions/use.test.ts'],
  },
  {
    name: 'a session outlives a new password',
    harm: 'a person who changes a leaked password does not get rid of the thief',
    edits: [
      {
        file: 'src/access/sessions/store.ts',
        find: 'u.generation = s.generation',
        replace: 'u.generation >= s.generation',
      },
    ],
    suites: ['src/access/sessions/use.test.ts'],
  },
  {
    name: 'a use does not extend a session',
    harm: 'a person who works the whole day is signed out after 12 hours',
    edits: [
      {
        file: 'src/access/sessions/sessions.ts',
        find: 'this.#uses.touch(tenant.id, session.id);',
        replace: '',
      },
    ],
    suites: ['src/access/sessions/use.test.ts'],
  },
  {
    name: 'an area opens all areas',
    harm: 'the screen in the kitchen shows the guests of the hotel',
    edits: [
      {
        file: 'src/access/sessions/guard.ts',
        find: 'right.areas.some((area) => staff.areas.includes(area))',
        replace: 'right.areas.some(() => staff.areas.length > 0)',
      },
    ],
    suites: ['src/access/sessions/use.test.ts'],
  },
  {
    name: 'an open invitation holds no e-mail',
    harm: 'an owner of another tenant takes the e-mail of a person who is about to accept an invitation',
    edits: [
      {
        file: 'src/access/tenants/store.ts',
        find: ".where('held_until', '<=', sql<Date>`now()`)",
        replace: ".where('held_until', 'is not', null)",
      },
    ],
    suites: ['src/access/people/people.test.ts'],
  },
  {
    name: 'a link works as often as it is opened',
    harm: 'a person who finds an old mail takes over the account',
    edits: [
      {
        file: 'src/access/people/store.ts',
        find: 'l.used_at IS NULL AND l.expires_at > now() AND u.is_active AND u.generation = l.generation',
        replace: 'l.expires_at > now() AND u.is_active',
      },
    ],
    suites: ['src/access/people/links.test.ts'],
  },
  {
    name: 'two owners may disable each other at the same time',
    harm: 'the tenant has no owner left who could sign in',
    edits: [
      {
        file: 'src/access/people/people.ts',
        find: 'await lockOwnersAndPerson(tx, actor.tenantId, id)',
        replace: 'await listUsers(tx as unknown as Database, actor.tenantId)',
      },
      { file: 'src/access/people/people.ts', find: '  lockOwnersAndPerson,\n', replace: '  listUsers,\n' },
    ],
    suites: ['src/access/people/changes.test.ts'],
  },
  {
    name: 'a disabled person keeps the generation',
    harm: 'a session that somebody has stolen works again when the person is enabled',
    edits: [
      {
        file: 'src/access/tenants/store.ts',
        find: 'changes.password_hash !== undefined || changes.is_active === false',
        replace: 'changes.password_hash !== undefined',
      },
    ],
    suites: ['src/access/people/changes.test.ts'],
  },
  {
    name: 'a pairing code works more than once',
    harm: 'a person who reads the code over a shoulder pairs a screen of their own',
    edits: [
      {
        file: 'src/access/sessions/display-store.ts',
        find: "    .deleteFrom('pairing_code')\n    .where('code_hash', '=', hash)\n    .where('expires_at', '>', sql<Date>`now()`)\n    .returning(['tenant_id', 'display_id'])",
        replace:
          "    .selectFrom('pairing_code')\n    .where('code_hash', '=', hash)\n    .where('expires_at', '>', sql<Date>`now()`)\n    .select(['tenant_id', 'display_id'])",
      },
    ],
    suites: ['src/access/sessions/displays.test.ts'],
  },
  {
    name: 'the cache does not know the end of a previous secret',
    harm: 'an old secret works on a busy process until the credential changes again',
    edits: [
      {
        file: 'src/access/credentials/authentication.ts',
        find: 'isEqual(fingerprint, known.fingerprint) && performance.now() < known.endsAtMs',
        replace: 'isEqual(fingerprint, known.fingerprint)',
      },
    ],
    suites: ['src/access/credentials/overlap.test.ts'],
  },
  {
    name: 'old refused calls are not removed',
    harm: 'the table of refused calls grows with each call of a partner whose program is wrong',
    edits: [{ file: 'src/access/refusals/store.ts', find: '    await removeOldest(db, share);\n', replace: '' }],
    suites: ['src/access/refusals/refusals.test.ts'],
  },
  {
    name: 'a refused call keeps a secret',
    harm: 'staff without the right to issue credentials read a secret that a partner has put into a wrong field',
    edits: [{ file: 'src/access/refusals/refusals.ts', find: ".replaceAll(/rss_[\\w-]+/g, 'rss_…')", replace: '' }],
    suites: ['src/access/refusals/refusals.test.ts'],
  },
  {
    name: 'a removed display keeps its session',
    harm: 'a screen that was stolen shows the orders of the tenant',
    edits: [
      {
        file: 'src/access/sessions/store.ts',
        find: 'ELSE d.removed_at IS NULL END',
        replace: 'ELSE true END',
      },
    ],
    suites: ['src/access/sessions/displays.test.ts'],
  },
  {
    name: 'everyone ends the sessions of others',
    harm: 'staff sign the owner out',
    edits: [
      {
        file: 'src/access/sessions/sessions.ts',
        find: "isOwn || staff.role === 'owner' ? found : undefined",
        replace: 'found',
      },
    ],
    suites: ['src/access/sessions/list.test.ts'],
  },
  {
    name: 'an invited owner keeps the areas of the request',
    harm: 'a person who is made staff has areas that no owner has given',
    edits: [
      {
        file: 'src/access/people/people.ts',
        find: "role === 'owner' ? [] : orderedAreas(wanted.areas ?? [])",
        replace: 'orderedAreas(wanted.areas ?? [])',
      },
    ],
    suites: ['src/access/people/people.test.ts'],
  },
  {
    name: 'a mail to a list of people',
    harm: 'a link for one person reaches another one',
    edits: [
      {
        file: 'src/platform/mail/mail.ts',
        find: "to: { name: '', address: to }",
        replace: 'to',
      },
    ],
    suites: ['src/platform/mail/mail.test.ts'],
  },
];
