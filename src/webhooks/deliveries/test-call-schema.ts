import Type from 'typebox';

/** Outcome of a test call to a webhook (decision 42). */
export const TestCallOutcome = Type.Object(
  {
    http_status: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The HTTP status of the response. Null if no response was received.',
    }),
    duration_ms: Type.Integer({
      description: 'Milliseconds until the status of the response was read, or until the call failed.',
    }),
    error: Type.Union([Type.String(), Type.Null()], {
      description:
        'Reason why the call failed, as in the attempts of a delivery. Null if the receiver answered with a 2xx. `aborted`: the ' +
        'service stopped during the call.',
    }),
    answer: Type.Union([Type.String(), Type.Null()], {
      description:
        'The first 1,024 bytes of the body of the response, as text. Null if no response was received, or if the operator allows ' +
        'webhooks in private networks.',
    }),
  },
  {
    title: 'TestCallOutcome',
    description: 'The response of the receiver to a test call.',
    examples: [
      { http_status: 204, duration_ms: 41, error: null, answer: '' },
      { http_status: 401, duration_ms: 38, error: 'http_status', answer: 'bad signature' },
      { http_status: null, duration_ms: 10_000, error: 'timeout', answer: null },
    ],
  },
);
export type TestCallOutcome = Type.Static<typeof TestCallOutcome>;
