export * from './history.tsx';
