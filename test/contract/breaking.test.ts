import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { breakingChanges } from '../../scripts/contract/breaking.ts';
import { documentBefore } from '../../scripts/contract/history.ts';
import { type OpenApiDocument, readDocuments } from '../support/documents.ts';

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

async function changesOf(change: Change): Promise<string | null> {
  const before = thirdParty();
  const after = thirdParty();
  change(after, (name) => after.components['schemas']?.[name] as Schema);
  return await breakingChanges(JSON.stringify(before), JSON.stringify(after));
}

/** As Redocly rates what breaks a client. */
const MAJOR = /[1-9]\d* major/;

describe('a document against the one before', { concurrency: 2 }, () => {
  for (const [name, change] of Object.entries(BREAKING)) {
    it(`breaks: ${name}`, async () => assert.match(String(await changesOf(change)), MAJOR));
  }
  for (const [name, change] of Object.entries(COMPATIBLE)) {
    it(`does not break: ${name}`, async () => assert.equal(await changesOf(change), null));
  }
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
