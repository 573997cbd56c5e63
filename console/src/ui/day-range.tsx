export * from './days.tsx';
