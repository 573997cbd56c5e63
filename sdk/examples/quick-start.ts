import { createServer } from 'node:http';
import { Roomservice, verifyWebhook, WebhookVerificationError } from '@roomservice-hub/sdk';

const { BASE = 'http://localhost:8080', KEY = '', SECRET = '', WEBHOOK_SECRET = '', PORT = '3000' } = process.env;
const roomservice = new Roomservice({ baseUrl: BASE, apiKey: KEY, apiSecret: SECRET });

const [dish] = await roomservice.menu.list();
const [room] = await roomservice.hotel.rooms();
if (!dish || !room) throw new Error('The tenant has no dish to order or no room type to book.');

const items = [{ item_id: dish.sku, quantity: 2 }];
const order = await roomservice.orders.create({ external_order_id: 'sdk-order-1', items });
console.log(`sdk-order-1 (${dish.name}) is ${order.status}${order.isReplayed ? ' (isReplayed)' : ''}`);

const stay = { room_type_id: room.room_type_id, check_in: '2030-05-01', check_out: '2030-05-04' };
const guest = { name: 'Ana Silva', phone: '+351 900 000 000' };
const booked = await roomservice.reservations.create({ external_reservation_id: 'sdk-stay-1', ...stay, guest });
console.log(`sdk-stay-1 (${room.name}) is ${booked.status}${booked.isReplayed ? ' (isReplayed)' : ''}`);

createServer(async (request, response) => {
  try {
    const event = verifyWebhook(Buffer.concat(await request.toArray()), request.headers, WEBHOOK_SECRET);
    console.log(event.event === 'test' ? 'A test call' : `${event.event}: ${event.data.status}`);
    response.writeHead(204).end();
  } catch (error) {
    console.error(String(error));
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end();
  }
}).listen(Number(PORT));
