import { createHash, randomBytes } from 'node:crypto';

let lastMs = 0;
let counter = 0;

/**
 * Makes a UUIDv7 (RFC 9562 §5.7): 48 bits of Unix time in milliseconds, a 12-bit counter (§6.2, method 1) and 62 random bits. With the
 * counter, the ids of one process sort in the order in which they were made.
 */
export function newId(): string {
  const bytes = nextRandom();
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    counter = bytes.readUInt16BE(6) & 0x07ff;
  } else {
    counter += 1;
    if (counter > 0x0fff) {
      lastMs += 1;
      counter = 0;
    }
  }
  return uuidOf(bytes, lastMs, counter);
}

let givenMs = 0;
let givenCounter = 0;

/**
 * Makes a UUIDv7 with the given time. Used for the id of a change, because the ids of the changes of one order or stay must sort like the
 * times of these changes, even if processes with different clocks made them. Of the ids that one process makes one after the other with the
 * same time, up to 2,048 sort in the order in which they were made.
 */
export function newIdAt(time: Date): string {
  const bytes = nextRandom();
  const ms = time.getTime();
  givenCounter = ms === givenMs ? (givenCounter + 1) & 0x0fff : bytes.readUInt16BE(6) & 0x07ff;
  givenMs = ms;
  return uuidOf(bytes, givenMs, givenCounter);
}

function uuidOf(random: Buffer, ms: number, count: number): string {
  random.writeUIntBE(ms, 0, 6);
  random.writeUInt16BE(0x7000 | count, 6);
  return formatId(random);
}

/**
 * Number of random bytes that are made in one call, enough for 256 ids. One call for each id would take longer than all other work for the
 * id.
 */
const POOL_BYTES = 256 * 16;
let pool = Buffer.alloc(0);

/** Returns the next 16 random bytes of the pool. Refills the pool if it is empty. Each byte of the pool is used only once. */
function nextRandom(): Buffer {
  if (pool.length === 0) {
    pool = randomBytes(POOL_BYTES);
  }
  const bytes = pool.subarray(0, 16);
  pool = pool.subarray(16);
  return bytes;
}

/** Returns the smallest UUIDv7 that this millisecond of Unix time can have. Every id from an earlier millisecond is smaller. */
export function firstIdAt(atMs: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(atMs, 0, 6);
  bytes[6] = 0x70;
  return formatId(bytes);
}

/** Returns the millisecond of Unix time that a UUIDv7 contains. */
export function timeOf(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/**
 * Derives an id from the given values, for example from the id of a dish and the name of one of its add-ons. The same values always give
 * the same id. So an add-on that is removed from the menu and later added again has its old id, although no id is stored. The id is a
 * UUIDv8 (RFC 9562 §5.8) from a SHA-256 hash.
 */
export function derivedId(...parts: (string | number)[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes[6] = 0x80 | (bytes.readUInt8(6) & 0x0f);
  return formatId(bytes);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns true if the text is a UUID in the usual form with hyphens. PostgreSQL accepts every such text as a `uuid`. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

function formatId(bytes: Buffer): string {
  bytes[8] = 0x80 | (bytes.readUInt8(8) & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
