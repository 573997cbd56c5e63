/** Makes the business objects once, for the API, the background loops and the commands. */
import { Credentials } from '#access/credentials/credentials.ts';
import { Channels } from '#hotel/channels/channels.ts';
import { createNightReader } from '#hotel/nights/nights.ts';
import { createRateReader } from '#hotel/rates/rates.ts';
import { Reservations } from '#hotel/reservations/reservations.ts';
import { createRoomTypeFinder } from '#hotel/rooms/rooms.ts';
import { type Caches, NO_CACHES } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { createMenuReader } from '#restaurant/menu/menu.ts';
import { createRefuseIfClosed } from '#restaurant/opening/opening.ts';
import { Orders } from '#restaurant/orders/orders.ts';
import { createTransactionWithEvents, type Wake } from '#webhooks/events/events.ts';

interface Platform {
  db: Database;
  keyring: Keyring;
  caches?: Caches;
  /** By default, the workers find the events at their next poll. */
  wake?: Wake | null;
}

export type Business = ReturnType<typeof createBusiness>;

export function createBusiness({ db, keyring, caches = NO_CACHES, wake = null }: Platform) {
  const transactionWithEvents = createTransactionWithEvents(db, wake);
  const readListedMenu = createMenuReader({ db, caches });
  const refuseIfClosed = createRefuseIfClosed({ db, caches });
  const readHeldNights = createNightReader(db);
  const findRoomType = createRoomTypeFinder({ db, caches });
  const rates = createRateReader(db);
  return {
    transactionWithEvents,
    credentials: new Credentials({ db, keyring, audience: 'third_party' }),
    pmsCredentials: new Credentials({ db, keyring, audience: 'pms' }),
    channels: new Channels({ db, keyring }),
    readListedMenu,
    orders: new Orders({ db, readListedMenu, refuseIfClosed, transactionWithEvents }),
    findRoomType,
    readHeldNights,
    reservations: new Reservations({ db, transactionWithEvents, findRoomType, rates, readHeldNights }),
  };
}
