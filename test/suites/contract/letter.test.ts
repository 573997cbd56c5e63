import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readDocuments } from '../../support/openapi-documents.ts';

interface Field {
  anyOf?: Field[];
  [keyword: string]: unknown;
}

/** Schema names that the contract gives to request and response bodies (§2). */
const NAMES = [
  'AvailabilityResponse',
  'IntegrationCredential',
  'IntegrationCredentialCreate',
  'IntegrationCredentialSecretResponse',
  'OrderCreate',
  'OrderItemInput',
  'OrderResponse',
  'ReservationCreate',
  'ReservationResponse',
  'RoomType',
  'ThirdPartyAddOn',
  'ThirdPartyDish',
  'WebhookRegister',
  'WebhookRegisterResponse',
];

const AMOUNT = { pattern: String.raw`^\d{1,8}(\.\d{1,2})?$` };
const URL = { format: 'uri' };
const SHORT_NAME = { maxLength: 100 };

/**
 * JSON Schema keywords that the contract requires for fields, by OpenAPI document. The service checks the rules of these keywords in code
 * and not by the schema. So only this test notices a keyword that is missing in a document. A field that also allows null may have the
 * keywords in one branch of its `anyOf`.
 */
const FACTS: Record<string, [schema: string, field: string, keywords: Field][]> = {
  'third-party': [
    ['AvailabilityResponse', 'base_price', AMOUNT],
    ['Category', 'name', SHORT_NAME],
    ['IntegrationCredential', 'webhook_url', URL],
    ['Kitchen', 'name', SHORT_NAME],
    ['MenuSet', 'name', SHORT_NAME],
    ['ThirdPartyAddOn', 'id', { readOnly: true }],
    ['ThirdPartyAddOn', 'image', URL],
    ['ThirdPartyAddOn', 'name', { maxLength: 512 }],
    ['ThirdPartyAddOn', 'price', AMOUNT],
    ['ThirdPartyDish', 'image', URL],
    ['WebhookRegister', 'webhook_url', URL],
  ],
  pms: [
    ['RateWrite', 'is_sold_out', { default: false }],
    ['RateWrite', 'price', { ...AMOUNT, minimum: 0, maximum: 99_999_999.99 }],
    ['RestrictionWrite', 'stop_sell', { default: false }],
  ],
  staff: [['AddOnDish', 'id', { readOnly: true }]],
};

describe('the OpenAPI documents, compared with the contract', () => {
  const documents = new Map(readDocuments());
  const schemaOf = (document: string, schema: string) =>
    documents.get(document)?.components['schemas']?.[schema] as { properties: Record<string, Field> } | undefined;

  it('the OpenAPI document of the third-party API contains every schema that the contract of this API names for request and response bodies', () => {
    assert.deepEqual(
      NAMES.filter((name) => schemaOf('third-party', name) === undefined),
      [],
    );
  });

  it('fields in the OpenAPI documents have the formats, bounds and defaults that the contract states', () => {
    for (const [document, facts] of Object.entries(FACTS)) {
      for (const [schema, name, keywords] of facts) {
        const field = schemaOf(document, schema)?.properties[name] ?? {};
        const arms = [field, ...(field.anyOf ?? [])];
        const isSaid = arms.some((arm) => Object.entries(keywords).every(([keyword, value]) => arm[keyword] === value));
        assert.ok(isSaid, `${document}: ${schema}.${name} is ${JSON.stringify(field)}`);
      }
    }
  });

  it('every field in the response schemas of credentials is marked read-only', () => {
    for (const [document, schema] of [
      ['third-party', 'IntegrationCredential'],
      ['pms', 'PmsCredential'],
    ] as const) {
      const fields = Object.values(schemaOf(document, schema)?.properties ?? {});
      assert.ok(fields.length > 0 && fields.every(({ readOnly }) => readOnly === true));
    }
  });

  it('the OpenAPI schema of an add-on in an order states no maximum length for addon_id', () => {
    assert.equal(schemaOf('third-party', 'OrderAddonInput')?.properties['addon_id']?.['maxLength'], undefined);
  });
});
