import assert from 'node:assert/strict';
import { test } from 'node:test';
import scalar from '@scalar/fastify-api-reference';
import Fastify from 'fastify';
import { readScalarScript } from './scalar.ts';

test('readScalarScript returns the script that the plugin of the API viewer Scalar serves, without the line that names the source map', async () => {
  const app = Fastify();
  await app.register(scalar, { routePrefix: '/plugin', configuration: { url: '/x.json' } });
  const { body } = await app.inject('/plugin/js/scalar.js');
  await app.close();
  const script = await readScalarScript();
  assert.ok(script.length > 1_000_000);
  assert.ok(body.startsWith(script));
  assert.match(body.slice(script.length), /^\n\/\/# sourceMappingURL=[\w.]+$/);
});
