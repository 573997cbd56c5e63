export { Story } from '../screens/deliveries/event-deliveries.tsx';
