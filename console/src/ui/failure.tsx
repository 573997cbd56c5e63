export * from './loaded.tsx';
