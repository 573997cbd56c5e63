import { createHash, randomBytes } from 'node:crypto';

let lastMs = 0;
let counter = 0;

/** Makes a UUIDv7 (RFC 9562 §5.7) with a counter (§6.2, method 1), so that the ids of one process sort as they were made. */
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

/** Makes a UUIDv7 with the time of a change, so that ids sort like these times even if the clocks of processes differ. */
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

/** Enough for 256 ids. One call for each id would take longer than all other work for the id. */
const POOL_BYTES = 256 * 16;
let pool = Buffer.alloc(0);

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

export function timeOf(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** Derives a UUIDv8 (RFC 9562 §5.8) from values, so that an add-on that returns to the menu has its old id. */
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
