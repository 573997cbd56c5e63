export * from './page.tsx';
