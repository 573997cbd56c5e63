export { keepRow } from './query-client.ts';
