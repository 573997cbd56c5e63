export { find, guestFilters, readMerged } from './reads.ts';
