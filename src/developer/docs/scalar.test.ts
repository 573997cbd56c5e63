import assert from 'node:assert/strict';
import { test } from 'node:test';
import scalar from '@scalar/fastify-api-reference';
import Fastify from 'fastify';
import { readScalarScript } from './scalar.ts';

test("the script is the one that Scalar's own plugin serves, but for the name of a file that is not there", async () => {
  const app = Fastify();
  await app.register(scalar, { routePrefix: '/theirs', configuration: { url: '/x.json' } });
  const { body } = await app.inject('/theirs/js/scalar.js');
  await app.close();
  const ours = String(await readScalarScript());
  assert.ok(ours.length > 1_000_000);
  assert.ok(body.startsWith(ours));
  assert.match(body.slice(ours.length), /^\n\/\/# sourceMappingURL=[\w.]+$/);
});
