import { collectionOf } from './collection.ts';
import type { Document } from './openapi-types.ts';
import { environment } from './environment.ts';

export function postmanFiles(documents: Record<string, object>): Record<string, string> {
  // The cast is safe, because this project makes the documents and `npm run check` validates them.
  const collection = collectionOf(documents as Record<string, Document>);
  return {
    'contract/postman/roomservice.postman_collection.json': `${JSON.stringify(collection, null, 2)}\n`,
    'contract/postman/roomservice.postman_environment.json': `${JSON.stringify(environment(), null, 2)}\n`,
  };
}
