import { collectionOf } from './collection.ts';
import type { Document } from './openapi-types.ts';
import { environment } from './environment.ts';

/** The Postman collection and its environment by their paths, made from the OpenAPI documents by name. */
export function postmanFiles(documents: Record<string, object>): Record<string, string> {
  // Ours, and checked against the specification where they are made.
  const collection = collectionOf(documents as Record<string, Document>);
  return {
    'postman/roomservice.postman_collection.json': `${JSON.stringify(collection, null, 2)}\n`,
    'postman/roomservice.postman_environment.json': `${JSON.stringify(environment(), null, 2)}\n`,
  };
}
