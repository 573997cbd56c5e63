import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ACCEPTED, notAccepted } from '../../../scripts/contract/accepted.ts';
import { breakingChanges } from '../../../scripts/contract/breaking.ts';
import { documentBefore } from '../../../scripts/contract/history.ts';
import { type OpenApiDocument, readDocuments } from '../../support/openapi-documents.ts';

interface Schema {
  properties: Record<string, { enum: string[]; type?: string }>;
  required: string[];
}

type Change = (document: OpenApiDocument, schema: (name: string) => Schema) => void;

const ORDERS = '/v1/third-party/orders/';
const DAY = { in: 'query' as const, name: 'day', required: false, schema: { type: 'string' } };
const operation = (document: OpenApiDocument, method: string, path = ORDERS) => {
  const found = document.paths[path]?.[method];
  assert.ok(found);
  return found;
};
const without = (list: string[], name: string) => list.splice(list.indexOf(name), 1);

/** Breaking changes that do not touch each other, so that one comparison reports all of them. Each has the line that reports it. */
const BREAKING: Record<string, [change: Change, report: string]> = {
  'a response lacks a field that it had': [
    (_, schema) => void delete schema('OrderResponse').properties['order_id'],
    '#/components/schemas/OrderResponse/properties/order_id: Property `order_id` of `OrderResponse` was removed.',
  ],
  'a required field of a response becomes optional': [
    (_, schema) => void without(schema('OrderResponse').required, 'status'),
    '#/components/schemas/OrderResponse/required: Properties of `OrderResponse` are no longer required: `status`.',
  ],
  'a response lacks a field that has the name of a JSON Schema keyword': [
    (_, schema) => void delete schema('RoomType').properties['description'],
    '#/components/schemas/RoomType/properties/description: Property `description` of `RoomType` was removed.',
  ],
  'a field of a response has another type': [
    (_, schema) =>
      void Object.assign(schema('OrderResponse').properties['external_order_id'] ?? {}, { type: 'integer' }),
    "#/components/schemas/OrderResponse/properties/external_order_id/type: Type of `external_order_id` widened from 'string' to 'integer'.",
  ],
  'a request has a new required field, and an optional field of a request becomes required': [
    (_, schema) => {
      schema('OrderCreate').properties['table'] = { type: 'string', enum: ['1', '2'] };
      schema('OrderCreate').required.push('table', 'customer');
    },
    '#/components/schemas/OrderCreate/required: Properties of `OrderCreate` became required: `table`, `customer`.',
  ],
  'a field of a request allows fewer values': [
    (_, schema) => void schema('OrderCreate').properties['order_type']?.enum.pop(),
    "#/components/schemas/OrderCreate/properties/order_type/enum: Enum of `order_type` lost values: 'pick_up'.",
  ],
  'a field of a response allows more values': [
    (_, schema) => void schema('OrderResponse').properties['status']?.enum.push('lost'),
    "#/components/schemas/OrderResponse/properties/status/enum: Enum of `status` gained values: 'lost'.",
  ],
  'an operation is removed': [
    (document) => void delete document.paths[`${ORDERS}{external_order_id}/`]?.['get'],
    '#/paths/~1v1~1third-party~1orders~1{external_order_id}~1/get: Operation `GET /v1/third-party/orders/{external_order_id}/` was removed.',
  ],
  'a path is removed': [
    (document) => void delete document.paths['/v1/third-party/menu/'],
    '#/paths/~1v1~1third-party~1menu~1: Path `/v1/third-party/menu/` was removed.',
  ],
  'an operation has a new required parameter': [
    (document) => void operation(document, 'get').parameters?.push({ ...DAY, required: true }),
    '#/paths/~1v1~1third-party~1orders~1/get/parameters/2/required: Required `day` query parameter was added.' +
      ` ${JSON.stringify({ ...DAY, required: true })}`,
  ],
  'a request body loses a content type': [
    (document) => void delete operation(document, 'post').requestBody?.content['multipart/form-data'],
    '#/paths/~1v1~1third-party~1orders~1/post/requestBody/content/multipart~1form-data: Media type `multipart/form-data` was removed.',
  ],
  'a response status is removed': [
    (document) => void delete operation(document, 'post').responses['200'],
    '#/paths/~1v1~1third-party~1orders~1/post/responses/200: Response `200` was removed.',
  ],
  'a field of an event is removed': [
    (_, schema) => void delete schema('OrderEventData').properties['external_order_id'],
    '#/components/schemas/OrderEventData/properties/external_order_id: Property `external_order_id` of `OrderEventData` was removed.',
  ],
  'an event is removed': [
    (document) => void delete document.webhooks?.['reservation.modified'],
    '#/webhooks/reservation.modified: Webhook `reservation.modified` was removed.',
  ],
};

const COMPATIBLE: Record<string, Change> = {
  'a response has a new field'(_, schema) {
    schema('OrderResponse').properties['total'] = { type: 'string', enum: ['0.00', '1.00'] };
    schema('OrderResponse').required.push('total');
  },
  'a request has a new optional field'(_, schema) {
    schema('OrderCreate').properties['table'] = { type: 'string', enum: ['1', '2'] };
  },
  'a field of a request allows more values'(_, schema) {
    schema('OrderCreate').properties['order_type']?.enum.push('drone');
  },
  'the document has a new operation'(document) {
    document.paths['/v1/third-party/tables/'] = { get: { ...operation(document, 'get'), operationId: 'listTables' } };
  },
  'an operation has a new optional parameter'(document) {
    operation(document, 'get').parameters?.push(DAY);
  },
  'parameters and responses have other descriptions'(document) {
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

/** Compares the document with a copy that has all these changes. One comparison starts a program, which takes half a second. */
async function changesOf(changes: Change[]): Promise<string[]> {
  const after = thirdParty();
  changes.forEach((change) => change(after, (name) => after.components['schemas']?.[name] as Schema));
  return await breakingChanges(JSON.stringify(thirdParty()), JSON.stringify(after));
}

describe('the comparison of an OpenAPI document with its previous version', () => {
  let comparison: Promise<string[]> | undefined;
  const reportedChanges = () => (comparison ??= changesOf(Object.values(BREAKING).map(([change]) => change)));

  for (const [name, [, report]] of Object.entries(BREAKING)) {
    it(`a breaking change is reported: ${name}`, async () => {
      const reported = await reportedChanges();
      assert.ok(reported.includes(report), reported.join('\n'));
    });
  }

  it('no breaking change is accepted that scripts/contract/accepted.ts does not list', async () => {
    const reported = await reportedChanges();
    assert.deepEqual(notAccepted('third-party', reported), reported);
  });

  it(`these changes are compatible: ${Object.keys(COMPATIBLE).join(', ')}`, async () => {
    assert.deepEqual(await changesOf(Object.values(COMPATIBLE)), []);
  });
});

it('a breaking change that ACCEPTED lists for a document is reported in the others', () => {
  const [accepted = ''] = ACCEPTED['pms'] ?? [];
  assert.deepEqual(notAccepted('pms', [accepted, 'another']), ['another']);
  assert.deepEqual(notAccepted('third-party', [accepted]), [accepted]);
});

describe('documentBefore', () => {
  const skip = hasGit() ? false : 'git is not installed';

  it('for a file with uncommitted changes, documentBefore returns the committed version, otherwise the version before its last commit', {
    skip,
  }, async () => {
    await inRepository(async (folder, commit) => {
      const write = (text: string) => writeFile(join(folder, 'a.json'), text);
      const before = () => documentBefore(folder, 'a.json');
      await write('1');
      assert.equal(await before(), null, 'the file was never committed');
      commit();
      assert.equal(await before(), null, 'the file has only one commit');
      await write('2');
      assert.equal(await before(), '1', 'the file has an uncommitted change');
      commit();
      assert.equal(await before(), '1', 'the change is committed');
      await writeFile(join(folder, 'b.json'), '0');
      commit();
      assert.equal(await before(), '1', 'the last commit changed another file');
    });
  });

  it('documentBefore returns null outside a git repository', async () => {
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
