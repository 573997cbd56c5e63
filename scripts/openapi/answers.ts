import Type from 'typebox';
import { ERRORS, type ErrorCode, GENERIC_ERRORS, type RouteError, type SpecificCode } from '#platform/errors.ts';
import type { Components, Schema } from './components.ts';
import { namedExamples } from './examples.ts';
import { headersOf } from './headers.ts';
import type { Operation } from './operations.ts';

const CODES = Object.keys(ERRORS) as SpecificCode[];

const ErrorBody = Type.Object(
  {
    code: Type.Enum([...CODES, 'error'], {
      type: 'string',
      description: 'Code of the error. It never changes its meaning. Programs decide by the code and the status.',
    }),
    message: Type.String({ description: 'Text for people that says what is wrong. Its wording may change.' }),
  },
  { title: 'Error', description: 'Body of every response with a status from 400 to 499.' },
);

const Unavailable = Type.Object(
  {
    message: Type.String({ description: 'Text for people that says what is wrong.' }),
    request_id: Type.String({ description: 'The `X-Request-Id` of this response. Quote it if you ask for help.' }),
  },
  {
    title: 'Unavailable',
    description: 'Body of a response with status 503. The service is unavailable for a short time.',
    examples: [
      {
        message: 'The service is unavailable for a moment. Try again.',
        request_id: '8f6a5b0e-3f0c-4a55-9d0d-1f9f2f6f0b6e',
      },
    ],
  },
);

export function answersOf(operation: Operation, components: Components): Record<string, object> {
  const successes = Object.entries(operation.successes).map(([status, schema]) => [
    status,
    {
      description: successText(operation, status, schema),
      headers: headersOf(operation, status),
      ...(schema.type === 'null' ? {} : { content: successContent(operation, schema, components) }),
    },
  ]);
  return Object.fromEntries([
    ...successes,
    ...(operation.hasEtag ? [['304', notModified(operation)]] : []),
    ...refusals(operation, components),
    ['503', unavailable(operation, components)],
  ]);
}

function successContent({ event, csvExample }: Operation, schema: Schema, components: Components): object {
  const examples = namedExamples(schema);
  if (event === null) {
    return {
      ...jsonContent(components.refer(schema), examples),
      ...(csvExample !== null && {
        'text/csv': { schema: { type: 'string' }, examples: { example: { value: csvExample } } },
      }),
    };
  }
  // OpenAPI 3.1 cannot describe the single events of a stream. So the document describes the stream as one text, and `contentSchema` is the
  // schema of the data of an event.
  const { examples: _, ...text } = schema;
  const data = { contentMediaType: 'application/json', contentSchema: components.refer(event) };
  return { 'text/event-stream': { schema: { ...text, ...data }, examples } };
}

function successText({ isIdempotent }: Operation, status: string, schema: Schema): string {
  if (isIdempotent) {
    return status === '201'
      ? 'This call created it.'
      : 'An earlier call with the same id created it. The response shows its present state. This call changed nothing.';
  }
  return schema.description ?? 'The call succeeded.';
}

function notModified(operation: Operation): object {
  return {
    description:
      'Nothing has changed since the response whose `ETag` the caller sent in `If-None-Match`. This response has no body.',
    headers: headersOf(operation, '304'),
  };
}

/** Returns one response for each error status of the operation. It contains an example of each error that has this status. */
function refusals(operation: Operation, components: Components): [string, object][] {
  const known = operation.errors.map(factsOf);
  const statuses = [...new Set(known.map(({ status }) => status))];
  return statuses.map((status) => {
    const errors = known.filter((error) => error.status === status);
    const codes = [...new Set(errors.map(({ code }) => code))];
    const schema = { allOf: [components.refer(ErrorBody), { properties: { code: { enum: codes } } }] };
    return [
      String(status),
      {
        description: [...new Set(errors.map(({ code, cause, remedy }) => `\`${code}\`: ${cause} ${remedy}`))].join(
          '\n\n',
        ),
        headers: headersOf(operation, String(status)),
        content: jsonContent(schema, errorExamples(errors)),
      },
    ];
  });
}

interface ErrorFacts {
  status: number;
  code: ErrorCode;
  title: string;
  cause: string;
  remedy: string;
  message: string;
}

function factsOf(error: RouteError): ErrorFacts {
  if (typeof error === 'string') {
    const { example, ...facts } = ERRORS[error];
    return { code: error, message: example, ...facts };
  }
  const generic = Object.entries(GENERIC_ERRORS).find(([status]) => Number(status) === error.status)?.[1];
  if (generic === undefined) {
    throw new Error(`GENERIC_ERRORS in src/platform/errors.ts has no cause for the status ${error.status}. Add one.`);
  }
  return { ...generic, ...error };
}

function errorExamples(errors: ErrorFacts[]): Record<string, object> {
  const byCode = Map.groupBy(errors, ({ code }) => code);
  const named = [...byCode].flatMap(([code, alike]) =>
    alike.map(({ title, message }, index) => [
      index === 0 ? code : `${code}-${index + 1}`,
      { summary: title, value: { code, message } },
    ]),
  );
  return Object.fromEntries(named);
}

function unavailable(operation: Operation, components: Components): object {
  return {
    description: 'The service is unavailable. It is safe to send the same request again after `Retry-After` seconds.',
    headers: headersOf(operation, '503'),
    content: jsonContent(components.refer(Unavailable), namedExamples(Unavailable)),
  };
}

function jsonContent(schema: object, examples: Record<string, object>): object {
  return { 'application/json': { schema, ...(Object.keys(examples).length > 0 && { examples }) } };
}
