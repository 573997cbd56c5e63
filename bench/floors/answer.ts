// Floor (baseline without the service) of an operation whose response is ready in advance: a bare node:http server that sends the same
// bytes in every response.
import { answerJobs } from '../child.ts';
import { serve } from './serve.ts';

export interface AnswerJob {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

answerJobs(
  ({ status, headers, body }: AnswerJob): Promise<string> =>
    serve((_request, response) => {
      response.writeHead(status, headers).end(body);
    }),
);
