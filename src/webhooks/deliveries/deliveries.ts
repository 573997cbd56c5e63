export { deliveryHeaders, verifySignature } from './signature.ts';
