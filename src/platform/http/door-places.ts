/** Kind of place that a request takes while it is under way. */
export type Place = 'call' | 'list' | 'document' | 'channel' | 'stranger';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Kind of place that a request takes. If missing, it is a call. */
    place?: Place;
    /** True if the handler gets the body as it arrived (`encodedBodyOf`), neither decoded nor validated. */
    takesEncodedBody?: boolean;
  }
}
