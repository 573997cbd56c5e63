import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type FaultsOf, loadRoutingCheck } from './routable.ts';

let faultsOf: FaultsOf;
before(async () => {
  faultsOf = await loadRoutingCheck({
    tenantTables: new Set(['event', 'delivery', 'night']),
    changingFunctions: new Set(['now', 'clock_timestamp']),
  });
});

const NIGHT = `INSERT INTO night AS n (tenant_id, date, held) VALUES ($1, $2, 1)`;

describe('statements that a cluster can route to one node', () => {
  for (const statement of [
    'SELECT id FROM event WHERE tenant_id = $1 AND id = $2',
    'SELECT id FROM event WHERE tenant_id = $1::bigint AND (id = $2 OR id = $3)',
    'SELECT e.id FROM event AS e JOIN delivery AS d ON d.tenant_id = e.tenant_id AND d.id = e.id WHERE e.tenant_id = $1',
    'SELECT t.name FROM tenant AS t',
    'UPDATE feed_era SET era = extract(epoch FROM now())',
    'SELECT given.n, found.id FROM unnest($2::uuid[]) WITH ORDINALITY AS given (id, n) CROSS JOIN LATERAL (SELECT id FROM event WHERE tenant_id = $1 AND id = given.id LIMIT 1) AS found',
    'WITH o AS MATERIALIZED (SELECT now() AS at) UPDATE delivery AS d SET claimed_at = o.at FROM o WHERE d.tenant_id = $1',
    'INSERT INTO night (tenant_id, date) SELECT event.tenant_id, day FROM event CROSS JOIN unnest($2::date[]) AS day WHERE event.tenant_id = $1',
    'DELETE FROM delivery WHERE tenant_id = ANY($1) AND id = ANY($2)',
    `${NIGHT}, ($1, $3, 1) ON CONFLICT (tenant_id, date) DO UPDATE SET held = n.held + excluded.held WHERE n.held < $4`,
    'SELECT id FROM event WHERE tenant_id = $1 UNION ALL SELECT id FROM delivery WHERE tenant_id = $1',
  ]) {
    it(`the routing check of SQL finds that a cluster can route this statement to one node: ${statement}`, () =>
      assert.deepEqual(faultsOf(statement), []));
  }
});

describe('statements that a cluster refuses or sends to all nodes', () => {
  const without = (table: string) => `uses "${table}" without its tenant as a parameter in the same query`;
  for (const [statement, ...faults] of [
    ['SELECT id FROM event WHERE id = $1', without('event')],
    ['SELECT id FROM event WHERE tenant_id = $1 OR id = $2', without('event')],
    ['SELECT id FROM event WHERE tenant_id > $1', without('event')],
    ['SELECT e.id FROM event AS e JOIN delivery AS d ON d.id = e.id WHERE e.tenant_id = $1', without('delivery')],
    [
      'SELECT d.id FROM delivery AS d CROSS JOIN LATERAL (SELECT type FROM event AS e WHERE e.tenant_id = d.tenant_id LIMIT 1) AS e WHERE d.tenant_id = $1',
      without('event'),
    ],
    [
      'SELECT (SELECT type FROM event WHERE event.tenant_id = d.tenant_id) FROM delivery AS d WHERE d.tenant_id = $1',
      without('event'),
    ],
    [
      'WITH wanted AS (SELECT $1::bigint AS tenant_id) SELECT d.id FROM wanted JOIN delivery AS d ON d.tenant_id = wanted.tenant_id',
      without('delivery'),
    ],
    ['UPDATE delivery SET claimed_at = now() WHERE tenant_id = $1', 'calls now() in SET, which is not immutable'],
    [
      'UPDATE delivery SET claimed_at = CURRENT_TIMESTAMP WHERE tenant_id = $1',
      'has the time or the user of the session in SET, which is not immutable',
    ],
    ['UPDATE delivery SET status = $1', without('delivery')],
    ['DELETE FROM delivery WHERE id = $1', without('delivery')],
    [
      `${NIGHT} ON CONFLICT (tenant_id, date) DO UPDATE SET at = now()`,
      'calls now() in DO UPDATE SET, which is not immutable',
    ],
    [
      `${NIGHT} ON CONFLICT (tenant_id, date) DO UPDATE SET held = 1 WHERE n.at < now()`,
      'calls now() in the WHERE of ON CONFLICT, which is not immutable',
    ],
    [
      `${NIGHT} ON CONFLICT (tenant_id, date) DO UPDATE SET held = 1 WHERE n.held < (SELECT 1)`,
      'has a subquery in ON CONFLICT',
    ],
    [
      'INSERT INTO night (tenant_id, date) SELECT $1, day FROM unnest($2::date[]) AS day',
      'inserts the rows of a SELECT into "night" that does not read the tenant from a table',
    ],
    ['INSERT INTO night (date) VALUES ($1)', 'inserts into "night" without a tenant'],
    [
      'WITH RECURSIVE head AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM head) SELECT n FROM head',
      'has a recursive query',
    ],
    [
      'MERGE INTO night USING (SELECT 1 AS date) AS given ON night.tenant_id = $1 AND night.date = given.date WHEN MATCHED THEN DELETE',
      'is a MERGE',
    ],
    ['SELECT id FROM event WHERE tenant_id = $1 UNION ALL SELECT id FROM delivery', without('delivery')],
  ] as const) {
    it(`the routing check of SQL reports why a cluster refuses this statement or sends it to several nodes: ${statement}`, () => {
      for (const fault of faults) {
        assert.ok(faultsOf(statement).includes(fault), `found: ${faultsOf(statement).join('; ') || 'no fault'}`);
      }
    });
  }
});

describe('statements with a list of inputs', () => {
  const LIST = `ROWS FROM (json_to_recordset($1) AS ("tenantId" bigint, "id" uuid)) WITH ORDINALITY AS given ("tenantId", "id", input_number)`;
  const TENANT = `coalesce($2::bigint, given."tenantId")`;
  const OWNER = `CROSS JOIN LATERAL (SELECT tenant_id FROM event WHERE tenant_id = ${TENANT} AND id = given."id" LIMIT 1) AS owner`;

  for (const statement of [
    `SELECT found.* FROM ${LIST} CROSS JOIN LATERAL (SELECT id FROM event WHERE tenant_id = ${TENANT} AND id = given."id" LIMIT 1) AS found`,
    `INSERT INTO night (tenant_id, date) SELECT owner.tenant_id, current_date FROM ${LIST} ${OWNER} ORDER BY given.input_number`,
    `INSERT INTO night (tenant_id, date) SELECT r.tenant_id, current_date FROM (SELECT given.input_number, owner.* FROM ${LIST} ${OWNER}) AS r`,
  ]) {
    it(`the routing check accepts a list of inputs if its tenant is a parameter on a cluster: ${statement}`, () => {
      assert.deepEqual(faultsOf(statement), []);
      assert.deepEqual(faultsOf(statement, ['[]', 1]), []);
      assert.equal(faultsOf(statement, ['[]', null]).length, 1, 'the parameter is null on a cluster');
    });
  }

  for (const statement of [
    `SELECT found.* FROM ${LIST} CROSS JOIN LATERAL (SELECT id FROM event WHERE tenant_id = given."tenantId" LIMIT 1) AS found`,
    `SELECT found.* FROM ${LIST} CROSS JOIN LATERAL (SELECT id FROM event WHERE tenant_id = coalesce(given."tenantId", $2) LIMIT 1) AS found`,
    'INSERT INTO night (tenant_id, date) SELECT given.tenant_id, given.date FROM unnest($1::bigint[], $2::date[]) AS given (tenant_id, date)',
    `INSERT INTO night (tenant_id, date) SELECT r.tenant_id, r.date FROM (SELECT given."tenantId" AS tenant_id, current_date AS date FROM ${LIST}) AS r`,
  ]) {
    it(`the routing check of SQL refuses a list of inputs whose tenant is not a parameter: ${statement}`, () => {
      assert.equal(faultsOf(statement).length, 1);
    });
  }
});
