import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { contractions, keysWithoutTenant, migrationNames, notDistributable, notSplittable } from './migrations.ts';

describe('the rules on migrations', () => {
  const faults = (sql: string) => keysWithoutTenant('migrations/0001_a.sql', sql);

  test('keysWithoutTenant finds a key or an index whose first column is not tenant_id', () => {
    for (const sql of [
      'CREATE TABLE a (id uuid PRIMARY KEY);',
      'CREATE TABLE a (tenant_id bigint NOT NULL, id uuid, PRIMARY KEY (id, tenant_id));',
      'CREATE TABLE a (tenant_id bigint NOT NULL);',
      'CREATE TABLE a (tenant_id bigint PRIMARY KEY, sku text UNIQUE);',
      'CREATE TABLE a (tenant_id bigint PRIMARY KEY, id bigint GENERATED ALWAYS AS IDENTITY);',
      'CREATE TABLE a (tenant_id bigint PRIMARY KEY, b uuid, UNIQUE NULLS NOT DISTINCT (b));',
      'CREATE TABLE a (tenant_id bigint PRIMARY KEY, b uuid REFERENCES b (id));',
      'CREATE TABLE a (tenant_id bigint PRIMARY KEY, b uuid, FOREIGN KEY (b) REFERENCES b (id));',
      'ALTER TABLE a ADD CONSTRAINT a_sku UNIQUE (sku);',
      'ALTER TABLE a ADD COLUMN b uuid, ADD COLUMN c uuid UNIQUE;',
      'CREATE INDEX a_by_sku ON a (sku);',
      'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS a_by_sku ON a USING btree (lower(sku));',
    ]) {
      assert.equal(faults(sql).length, 1, sql);
    }
  });

  test('keysWithoutTenant accepts keys that begin with tenant_id and keys of global tables, and names the line of a wrong index', () => {
    for (const sql of [
      'CREATE TABLE a (tenant_id bigint NOT NULL REFERENCES tenant (id), price numeric(10, 2), PRIMARY KEY (tenant_id, id));',
      "-- PRIMARY KEY (id);\nCREATE TABLE a (tenant_id bigint PRIMARY KEY, s text DEFAULT 'UNIQUE (id)');",
      'CREATE INDEX a_by_sku ON a (tenant_id, sku); ALTER TABLE a ADD COLUMN c text NOT NULL;',
      'CREATE TABLE sign_in (email text PRIMARY KEY);',
    ]) {
      assert.deepEqual(faults(sql), [], sql);
    }
    assert.deepEqual(faults('\n\nCREATE INDEX a_by_sku\n  ON a (sku);'), [
      'migrations/0001_a.sql:3: index a_by_sku must lead with tenant_id',
    ]);
  });

  test('migrationNames finds gaps and repetitions in the numbers of migrations, and wrong file names', () => {
    assert.deepEqual(migrationNames(['migrations/0002_b.sql', 'migrations/0001_a.sql']), []);
    assert.equal(migrationNames(['migrations/0001_a.sql', 'migrations/0003_b.sql']).length, 1);
    assert.equal(migrationNames(['migrations/0001_a.sql', 'migrations/0001_b.sql']).length, 1);
    assert.equal(migrationNames(['migrations/1_a.sql']).length, 1);
  });

  test('notDistributable finds sequences, functions, triggers, and constraints of a new column in a migration', () => {
    for (const sql of [
      'CREATE TABLE a (id bigserial)',
      'CREATE OR REPLACE FUNCTION f()',
      'CREATE TRIGGER t',
      "ALTER TABLE a ADD COLUMN b text[] DEFAULT ARRAY['x', 'y'] CHECK (b <> '{}')",
    ]) {
      assert.equal(notDistributable('migrations/0001_a.sql', sql).length, 1, sql);
    }
  });

  test('the function notSplittable reports SQL that the migrator would split or read wrongly, for example a string with a semicolon', () => {
    for (const sql of [
      "UPDATE a SET b = 'x; y'",
      "UPDATE a SET b = 'x -- y'",
      'DO $$ BEGIN END $$',
      '/* x */ SELECT 1',
    ]) {
      assert.notEqual(notSplittable('migrations/0001_a.sql', sql).length, 0, sql);
    }
    assert.deepEqual(notSplittable('migrations/0001_a.sql', "-- It's; it's\nUPDATE a SET b = 'x'; -- it's\n"), []);
  });

  test('if SQL in a migration would break the previous version of the service, contractions() reports this SQL', () => {
    const refused = [
      'ALTER TABLE a DROP COLUMN b',
      'DROP INDEX c',
      'ALTER TABLE a RENAME COLUMN b TO c',
      'ALTER TABLE a ALTER COLUMN b SET NOT NULL',
      'ALTER TABLE a ALTER COLUMN b TYPE text',
      'ALTER TABLE a ADD COLUMN b int NOT NULL',
      'ALTER TABLE a ADD CONSTRAINT c CHECK (b > 0)',
      'ALTER TABLE a DROP CONSTRAINT c; ALTER TABLE b ADD COLUMN d int',
      'ALTER TABLE a ADD COLUMN b int; ALTER TABLE a ADD CONSTRAINT a_c_check CHECK (c > 0)',
      'DELETE FROM a',
      'CREATE UNIQUE INDEX c ON a (tenant_id)',
    ];
    for (const sql of refused) {
      assert.equal(contractions('migrations/0002_a.sql', sql).length, 1, sql);
    }
    const fine = [
      'ALTER TABLE a ADD COLUMN b int',
      "ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT '', ADD COLUMN c int",
      'CREATE TABLE a (tenant_id bigint NOT NULL, b text UNIQUE); CREATE UNIQUE INDEX c ON a (tenant_id)',
      'CREATE INDEX c ON a (tenant_id)',
      '-- DROP TABLE a\nALTER TABLE a ADD COLUMN b int',
      "ALTER TABLE a DROP CONSTRAINT c; ALTER TABLE a ADD CONSTRAINT c CHECK (b IN ('x', 'y'))",
      "ALTER TABLE a ADD COLUMN note text NOT NULL DEFAULT 'x'; ALTER TABLE a ADD CONSTRAINT a_note CHECK (note <> '')",
    ];
    for (const sql of fine) {
      assert.deepEqual(contractions('migrations/0002_a.sql', sql), [], sql);
    }
  });
});
