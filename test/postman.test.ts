import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import newman, { type NewmanRunSummary } from 'newman';
import { type Document, type Endpoint, endpointsOf, schemesOf } from '../scripts/postman/openapi-types.ts';
import { LEFT_OUT } from '../scripts/postman/story.ts';
import { dayAhead, openHotel, pmsHeaders, type TestHotel, writePlan } from './support/hotel.ts';
import { startService, type TestService, type TestTenant } from './support/service.ts';
import { OWNER_PASSWORD } from './support/tenants.ts';

const COLLECTION = readJson('contract/postman/roomservice.postman_collection.json');
const ENVIRONMENT = readJson('contract/postman/roomservice.postman_environment.json');
const THIRD_PARTY = endpointsIn('third-party');
const PMS = endpointsIn('pms');

const SIGN_IN = 'POST /v1/auth/token/';
const MAKE_CREDENTIAL = 'POST /v1/third-party/credentials/';
const MAKE_PMS_CREDENTIAL = 'POST /v1/channel-manager/credentials/';
const REGISTER_WEBHOOK = 'POST /v1/third-party/webhook/';
/** Calls that the Postman collection sends twice, to show that a repeated call creates nothing new. */
const CREATES = ['POST /v1/third-party/orders/', 'POST /v1/third-party/hotels/reservations/'];

describe('the Postman collection', () => {
  let service: TestService;
  let hotel: TestHotel;
  let plansBefore: object[];
  /** Run of the whole collection for `hotel`, whose rates and restrictions `plansBefore` has. */
  let first: NewmanRunSummary;

  before(async () => {
    service = await startService();
    hotel = await openHotel(service);
    const pms = await pmsHeaders(service, hotel);
    const planId = hotel.plans['Double/Flexible'];
    const nights = [30, 31].map((days) => ({ date: dayAhead(days), price: '123.45', is_sold_out: true }));
    await writePlan(service, pms, 'rates', planId, nights);
    await writePlan(service, pms, 'restrictions', planId, [{ date: dayAhead(40), stop_sell: true, min_nights: 3 }]);
    plansBefore = await planRows(hotel);
    first = await run({ ...ownersValues(hotel), webhookUrl: 'https://partner.example/hooks' });
  });

  after(() => service.close());

  /** Returns the values that an owner enters in the Postman environment. */
  function ownersValues({ document }: TestTenant): Record<string, string> {
    const owner = document.users?.find(({ role }) => role === 'owner');
    assert.ok(owner);
    return { baseUrl: service.url, ownerEmail: owner.email, ownerPassword: OWNER_PASSWORD };
  }

  test("the collection calls the owner's sign-in and every operation for partners and PMSs, except those in LEFT_OUT", () => {
    const documented = [...THIRD_PARTY, ...PMS].filter(({ operation }) => !(operation.operationId in LEFT_OUT));
    const expected = [SIGN_IN, ...CREATES, ...documented.map(callOf)];
    assert.deepEqual(callsOf(first).toSorted(), expected.toSorted());
  });

  test('after a run of the collection, its order and stay are cancelled, and prices and restrictions are as before', async () => {
    assert.deepEqual(await planRows(hotel), plansBefore);
    const lists = ['/v1/staff/orders/', '/v1/staff/reservations/'].map(async (path) => {
      const answer = await service.call('GET', path, { headers: hotel.owner });
      return answer.body.results.map(({ status }: { status: string }) => status);
    });
    assert.deepEqual(await Promise.all(lists), [['cancelled'], ['cancelled']]);
  });

  test('LEFT_OUT, the list of operations that the collection omits, names only existing operations', () => {
    const ids = new Set([...THIRD_PARTY, ...PMS].map(({ operation }) => operation.operationId));
    const unknown = Object.keys(LEFT_OUT).filter((id) => !ids.has(id));
    assert.deepEqual(unknown, []);
  });

  test('all checks of the collection pass with the menu and the hotel of the demo tenant', async () => {
    const { menu, properties } = readJson('examples/demo/tenant.json');
    await run(ownersValues(await openHotel(service, { menu, properties })));
  });

  test('a second run of the collection reuses the credentials of the first run and makes no new ones', async () => {
    const second = await run(first.environment.toObject(false, true));
    const made = [MAKE_CREDENTIAL, MAKE_PMS_CREDENTIAL];
    const others = callsOf(first).filter((call) => !made.includes(call));
    assert.equal(others.length, callsOf(first).length - made.length);
    assert.deepEqual(callsOf(second), others);
  });

  test("if only a partner's API key and secret are given, the collection sends only calls that these allow", async () => {
    const { credential } = await openHotel(service);
    const keys = { apiKey: credential.api_key, apiSecret: credential.api_secret };
    const opened = THIRD_PARTY.filter(({ operation }) => schemesOf(operation).includes('apiKey')).map(callOf);
    const expected = [...CREATES, ...opened.filter((call) => call !== REGISTER_WEBHOOK)];
    assert.deepEqual(callsOf(await run({ baseUrl: service.url, ...keys })).toSorted(), expected.toSorted());
  });

  for (const folder of ['Restaurant', 'Hotel', 'Webhook', 'PMS']) {
    test(`the folder ${folder} of the collection passes if it runs without the other folders`, async () => {
      const other = await openHotel(service);
      const { 'x-pms-api-key': pmsApiKey = '', 'x-pms-api-secret': pmsApiSecret = '' } = await pmsHeaders(
        service,
        other,
      );
      const { api_key: apiKey, api_secret: apiSecret } = other.credential;
      const values = { baseUrl: service.url, apiKey, apiSecret, pmsApiKey, pmsApiSecret };
      assert.notEqual(callsOf(await run(values, folder)).length, 0);
    });
  }

  /** Reads the minimum stays of all rate plans of a tenant, and the rates and restrictions that these plans have on single nights. */
  async function planRows({ tenantId }: TestTenant): Promise<object[]> {
    const { db } = service.database;
    const [plans, rates] = await Promise.all([
      db.selectFrom('rate_plan').select(['id', 'min_nights']).where('tenant_id', '=', tenantId).orderBy('id').execute(),
      db.selectFrom('rate').selectAll().where('tenant_id', '=', tenantId).orderBy('date').execute(),
    ]);
    return [...plans, ...rates];
  }
});

/**
 * Runs the committed Postman collection, or one folder of it, with the given environment values. Asserts that no check
 * of the collection fails.
 */
async function run(values: Record<string, string>, folder?: string): Promise<NewmanRunSummary> {
  const filled = Object.entries({ ...defaults(), ...values }).map(([key, value]) => ({ key, value }));
  const summary = await new Promise<NewmanRunSummary>((resolve, reject) => {
    const options = { collection: COLLECTION, environment: { values: filled }, folder, reporters: [] };
    newman.run(options, (error, result) => (error === null ? resolve(result) : reject(error)));
  });
  const failures = summary.run.failures.map(({ source, error }) => `${source?.name}: ${error.message}`);
  assert.deepEqual(failures, []);
  return summary;
}

function defaults(): Record<string, string> {
  return Object.fromEntries(ENVIRONMENT.values.map(({ key, value }: { key: string; value: string }) => [key, value]));
}

/** Returns the operations that were called and got a response, in the order of the calls. */
function callsOf({ run: { executions } }: NewmanRunSummary): string[] {
  return executions
    .filter(({ response }) => response !== undefined)
    .map(({ item: { request } }) => {
      const segments = request.url.path ?? [];
      return `${request.method} /${segments.map((segment) => segment.replace(/^:(.*)/, '{$1}')).join('/')}`;
    });
}

function callOf({ method, path }: Endpoint): string {
  return `${method} ${path}`;
}

function endpointsIn(name: string): Endpoint[] {
  const document: Document = readJson(`contract/${name}.json`);
  return endpointsOf(document);
}

function readJson(path: string) {
  return JSON.parse(readFileSync(join(import.meta.dirname, '..', path), 'utf8'));
}
