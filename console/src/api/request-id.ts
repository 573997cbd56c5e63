export { newRequestId } from './client.ts';
