export * from './filters.tsx';
