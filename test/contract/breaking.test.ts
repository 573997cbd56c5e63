import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ACCEPTED, notAccepted } from '../../scripts/contract/accepted.ts';
import { breakingChanges } from '../../scripts/contract/breaking.ts';
import { documentBefore } from '../../scripts/contract/history.ts';
import { type OpenApiDocument, readDocuments } from '../support/openapi-documents.ts';

interface Schema {
  properties: Record<string, { enum: string[]; type?: string }>;
  required: string[];
}

type Change = (document: OpenApiDocument, schema: (name: string) => Schema) => void;

const ORDERS = '/v1/third-party/orders/';
const operation = (document: OpenApiDocument, method: string, path = ORDERS) => {
  const found = document.paths[path]?.[method];
  assert.ok(found);
  return found;
};
const without = (list: string[], name: string) => list.splice(list.indexOf(name), 1);

const BREAKING: Record<string, Change> = {
  'a field of an answer is gone'(_, schema) {
    delete schema('OrderResponse').properties['order_id'];
    without(schema('OrderResponse').required, 'order_id');
  },
  'a field of an answer may be missing'(_, schema) {
    without(schema('OrderResponse').required, 'status');
  },
  'a field of an answer that is called like a keyword is gone'(_, schema) {
    delete schema('RoomType').properties['description'];
    without(schema('RoomType').required, 'description');
  },
  'a field of an answer has another type'(_, schema) {
    Object.assign(schema('OrderResponse').properties['order_id'] ?? {}, { type: 'integer' });
  },
  'a request needs a new field'(_, schema) {
    schema('OrderCreate').properties['table'] = { type: 'string', enum: ['1', '2'] };
    schema('OrderCreate').required.push('table');
  },
  'a request needs a field that could be left out'(_, schema) {
    schema('OrderCreate').required.push('customer');
  },
  'a request may hold fewer values'(_, schema) {
    schema('OrderCreate').properties['order_type']?.enum.pop();
  },
  'an answer may hold more values'(_, schema) {
    schema('OrderResponse').properties['status']?.enum.push('lost');
  },
  'an operation is gone'(document) {
    delete document.paths[ORDERS]?.['get'];
  },
  'a path is gone'(document) {
    delete document.paths['/v1/third-party/menu/'];
  },
  'a parameter is needed'(document) {
    operation(document, 'get').parameters?.push({
      in: 'query',
      name: 'day',
      required: true,
      schema: { type: 'string' },
    });
  },
  'a form of the body is gone'(document) {
    delete operation(document, 'post').requestBody?.content['multipart/form-data'];
  },
  'a status is gone'(document) {
    delete operation(document, 'post').responses['200'];
  },
  'a field of an event is gone'(_, schema) {
    delete schema('OrderEventData').properties['external_order_id'];
    without(schema('OrderEventData').required, 'external_order_id');
  },
  'an event is gone'(document) {
    delete document.webhooks?.['reservation.modified'];
  },
};

const COMPATIBLE: Record<string, Change> = {
  'nothing changed'() {},
  'an answer has a new field'(_, schema) {
    schema('OrderResponse').properties['total'] = { type: 'string', enum: ['0.00', '1.00'] };
    schema('OrderResponse').required.push('total');
  },
  'a request may have a new field'(_, schema) {
    schema('OrderCreate').properties['table'] = { type: 'string', enum: ['1', '2'] };
  },
  'a request may hold more values'(_, schema) {
    schema('OrderCreate').properties['order_type']?.enum.push('drone');
  },
  'an operation is new'(document) {
    document.paths['/v1/third-party/tables/'] = { get: { ...operation(document, 'get'), operationId: 'listTables' } };
  },
  'a parameter may be sent'(document) {
    operation(document, 'get').parameters?.push({
      in: 'query',
      name: 'day',
      required: false,
      schema: { type: 'string' },
    });
  },
  'parameters and answers are told of in other words'(document) {
    const { parameters = [], responses } = operation(document, 'get');
    for (const each of [...parameters, ...Object.values(responses)]) {
      Object.assign(each, { description: 'Quite another text, and a longer one than there was before. '.repeat(3) });
    }
  },
};

function thirdParty(): OpenApiDocument {
  const document = new Map(readDocuments()).get('third-party');
  assert.ok(document);
  return document;
}

async function changesOf(change: Change): Promise<string[]> {
  const before = thirdParty();
  const after = thirdParty();
  change(after, (name) => after.components['schemas']?.[name] as Schema);
  return await breakingChanges(JSON.stringify(before), JSON.stringify(after));
}

describe('a document against the one before', { concurrency: 2 }, () => {
  for (const [name, change] of Object.entries(BREAKING)) {
    it(`breaks: ${name}`, async () => {
      const changes = await changesOf(change);
      assert.notEqual(changes.length, 0);
      assert.deepEqual(notAccepted('third-party', changes), changes);
    });
  }
  for (const [name, change] of Object.entries(COMPATIBLE)) {
    it(`does not break: ${name}`, async () => assert.deepEqual(await changesOf(change), []));
  }
});

type Bounded = Record<string, { properties: Record<string, { maxItems?: number }> }>;

/** The bounds of lists that were accepted, by document, schema and field. */
const BOUNDS: Record<string, Record<string, Record<string, number>>> = {
  'third-party': { OrderCreate: { items: 1_000 }, OrderItemInput: { addons: 100 } },
  staff: {
    MenuDocument: { dishes: 10_000 },
    DishDocument: { price_variants: 200, addons: 200, ingredients: 200 },
    DishChange: { price_variants: 200, addons: 200, ingredients: 200 },
  },
};

/** The document without these bounds against the one with bounds that are by so much lower. */
async function boundedBy(name: string, less: number): Promise<string[]> {
  const [before, after] = ['before', 'after'].map((side) => {
    const document = new Map(readDocuments()).get(name);
    const schemas = document?.components['schemas'] as Bounded;
    for (const [schema, fields] of Object.entries(BOUNDS[name] ?? {})) {
      for (const [field, count] of Object.entries(fields)) {
        const { maxItems: _, ...list } = schemas[schema]?.properties[field] ?? {};
        Object.assign(schemas[schema]?.properties ?? {}, {
          [field]: side === 'before' ? list : { ...list, maxItems: count - less },
        });
      }
    }
    return JSON.stringify(document);
  });
  return notAccepted(name, await breakingChanges(before ?? '', after ?? ''));
}

describe('an accepted change', () => {
  for (const [name, schemas] of Object.entries(BOUNDS)) {
    it(`passes as it was accepted, and no other bound does: ${name}`, async () => {
      assert.deepEqual(await boundedBy(name, 0), []);
      assert.equal((await boundedBy(name, 1)).length, Object.values(schemas).flatMap(Object.keys).length);
    });
  }

  it('passes in its own document and place alone, and beside it nothing else does', async () => {
    const [accepted = ''] = ACCEPTED.flatMap(({ changes }) => changes['third-party'] ?? []);
    assert.deepEqual(notAccepted('third-party', [accepted, 'another']), ['another']);
    assert.deepEqual(notAccepted('staff', [accepted]), [accepted]);
    const changes = await changesOf((document) => {
      delete operation(document, 'post').responses['415'];
    });
    assert.deepEqual(notAccepted('third-party', changes), changes);
    assert.equal(changes.length, 1);
  });

  it('is dated, and about a place that its document has', () => {
    const documents = new Map(readDocuments());
    for (const { date, why, changes } of ACCEPTED) {
      assert.match(date, /^20\d\d-\d\d-\d\d$/);
      assert.ok(why.length > 0);
      for (const [name, texts] of Object.entries(changes)) {
        for (const text of texts) {
          const [pointer = ''] = text.split(': ', 1);
          const steps = pointer.split('/').slice(1, -1);
          const place = steps.reduce<unknown>(
            (node, step) => (node as Record<string, unknown> | undefined)?.[step.replaceAll('~1', '/')],
            documents.get(name),
          );
          assert.ok(place, `${name}.json has no ${pointer}`);
        }
      }
    }
  });
});

describe('the document before', () => {
  const skip = hasGit() ? false : 'git is not installed';

  it('is the committed one while there is a change, then the one before the last commit', { skip }, async () => {
    await inRepository(async (folder, commit) => {
      const write = (text: string) => writeFile(join(folder, 'a.json'), text);
      const before = () => documentBefore(folder, 'a.json');
      await write('1');
      assert.equal(await before(), null, 'never committed');
      commit();
      assert.equal(await before(), null, 'the first');
      await write('2');
      assert.equal(await before(), '1', 'changed');
      commit();
      assert.equal(await before(), '1', 'committed');
      await writeFile(join(folder, 'b.json'), '0');
      commit();
      assert.equal(await before(), '1', 'another file committed');
    });
  });

  it('is none where there is no git repository', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roomservice-no-history-'));
    try {
      await writeFile(join(folder, 'a.json'), '1');
      assert.equal(await documentBefore(folder, 'a.json'), null);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

function hasGit(): boolean {
  try {
    execFileSync('git', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function inRepository(use: (folder: string, commit: () => void) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roomservice-history-'));
  const git = (...options: string[]) => execFileSync('git', ['-C', folder, ...options], { stdio: 'ignore' });
  try {
    git('init');
    await use(folder, () => {
      git('add', '.');
      git('-c', 'user.name=A', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', 'commit', '-m', 'x');
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
