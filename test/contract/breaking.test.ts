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
  'a response lacks a field that it had'(_, schema) {
    delete schema('OrderResponse').properties['order_id'];
    without(schema('OrderResponse').required, 'order_id');
  },
  'a required field of a response becomes optional'(_, schema) {
    without(schema('OrderResponse').required, 'status');
  },
  'a response lacks a field that has the name of a JSON Schema keyword'(_, schema) {
    delete schema('RoomType').properties['description'];
    without(schema('RoomType').required, 'description');
  },
  'a field of a response has another type'(_, schema) {
    Object.assign(schema('OrderResponse').properties['order_id'] ?? {}, { type: 'integer' });
  },
  'a request has a new required field'(_, schema) {
    schema('OrderCreate').properties['table'] = { type: 'string', enum: ['1', '2'] };
    schema('OrderCreate').required.push('table');
  },
  'an optional field of a request becomes required'(_, schema) {
    schema('OrderCreate').required.push('customer');
  },
  'a field of a request allows fewer values'(_, schema) {
    schema('OrderCreate').properties['order_type']?.enum.pop();
  },
  'a field of a response allows more values'(_, schema) {
    schema('OrderResponse').properties['status']?.enum.push('lost');
  },
  'an operation is removed'(document) {
    delete document.paths[ORDERS]?.['get'];
  },
  'a path is removed'(document) {
    delete document.paths['/v1/third-party/menu/'];
  },
  'an operation has a new required parameter'(document) {
    operation(document, 'get').parameters?.push({
      in: 'query',
      name: 'day',
      required: true,
      schema: { type: 'string' },
    });
  },
  'a request body loses a content type'(document) {
    delete operation(document, 'post').requestBody?.content['multipart/form-data'];
  },
  'a response status is removed'(document) {
    delete operation(document, 'post').responses['200'];
  },
  'a field of an event is removed'(_, schema) {
    delete schema('OrderEventData').properties['external_order_id'];
    without(schema('OrderEventData').required, 'external_order_id');
  },
  'an event is removed'(document) {
    delete document.webhooks?.['reservation.modified'];
  },
};

const COMPATIBLE: Record<string, Change> = {
  'the document is unchanged'() {},
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
    operation(document, 'get').parameters?.push({
      in: 'query',
      name: 'day',
      required: false,
      schema: { type: 'string' },
    });
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

async function changesOf(change: Change): Promise<string[]> {
  const before = thirdParty();
  const after = thirdParty();
  change(after, (name) => after.components['schemas']?.[name] as Schema);
  return await breakingChanges(JSON.stringify(before), JSON.stringify(after));
}

describe('the comparison of an OpenAPI document with its previous version', { concurrency: 2 }, () => {
  for (const [name, change] of Object.entries(BREAKING)) {
    it(`a breaking change is reported: ${name}`, async () => {
      const changes = await changesOf(change);
      assert.notEqual(changes.length, 0);
      assert.deepEqual(notAccepted('third-party', changes), changes);
    });
  }
  for (const [name, change] of Object.entries(COMPATIBLE)) {
    it(`a compatible change is not reported: ${name}`, async () => assert.deepEqual(await changesOf(change), []));
  }
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
