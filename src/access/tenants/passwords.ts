import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { UnavailableError } from '#platform/errors.ts';
import { Gate } from '#platform/lib/gate.ts';

const argon2id = promisify(argon2).bind(null, 'argon2id');

/**
 * Computes one hash at a time for each CPU core but one, which stays free for the event loop and PostgreSQL. `lowerPoolPriority` lets them
 * go first on the other cores. Each hash takes 19 MiB of memory. Without this gate, Node's thread pool would compute up to 256 at the same time.
 */
const hashing = new Gate({
  places: Math.max(1, availableParallelism() - 1),
  maxWaitMs: 60_000,
  refusal: () => new UnavailableError('Too many passwords are being checked now. Try again later.'),
});

async function hashInTurn(parameters: Argon2Parameters): Promise<Buffer> {
  return await hashing.run('', () => argon2id(parameters));
}

/** Cost of new hashes. OWASP recommends 19 MiB of memory, 2 passes and 1 lane for argon2id. Only tests lower it. */
export const passwordCost = { memory: 19_456, passes: 2, parallelism: 1 };
const TAG_BYTES = 32;

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  return hashText(
    nonce,
    await hashInTurn({ ...passwordCost, message: composed(password), nonce, tagLength: TAG_BYTES }),
  );
}

function hashText(nonce: Buffer, tag: Buffer): string {
  const { memory, passes, parallelism } = passwordCost;
  return `argon2id$${memory}$${passes}$${parallelism}$${nonce.toString('base64')}$${tag.toString('base64')}`;
}

/** A Mac or a phone may send the same letters decomposed. */
function composed(password: string): string {
  return password.normalize('NFC');
}

/** Returns true if the hash was made from this password, whatever form its letters have. Compares in constant time. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [, memory, passes, parallelism, nonce = '', tag = ''] = hash.split('$');
  const expected = Buffer.from(tag, 'base64');
  const actual = await hashInTurn({
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    message: composed(password),
    nonce: Buffer.from(nonce, 'base64'),
    tagLength: expected.length,
  });
  return timingSafeEqual(actual, expected);
}

/** Returns a hash that matches no password, for a person who still has to choose a password. */
export function unusableHash(): string {
  return hashText(randomBytes(16), randomBytes(TAG_BYTES));
}

let decoy: Promise<string> | undefined;

/** If an e-mail is unknown, sign-in checks the password against this hash, so that the response takes as long as for a known e-mail. */
export function decoyHash(): Promise<string> {
  decoy ??= hashPassword(randomBytes(16).toString('hex'));
  return decoy;
}
