// Only the needed modules of the library jose are imported, because loading the whole library takes twice as long.
import { JOSEError, JWKSInvalid, JWKSTimeout } from 'jose/errors';
import { createRemoteJWKSet } from 'jose/jwks/remote';
import { decodeJwt } from 'jose/jwt/decode';
import { SignJWT } from 'jose/jwt/sign';
import type { JWTPayload } from 'jose';
import { jwtVerify } from 'jose/jwt/verify';
import type { IdentityProvider } from '#platform/config.ts';
import { UnavailableError } from '#platform/errors.ts';

const ISSUER = 'roomservice';
const AUDIENCE = 'roomservice';
const ALGORITHM = 'HS256';
/**
 * Signature algorithms that are accepted from the identity provider. All are asymmetric. If a symmetric algorithm were accepted, the
 * provider's public key would serve as the secret of the signature. Then everybody could forge tokens.
 */
const OUTSIDE_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** Lifetime of an access token: 8 hours (decision 12). */
export const TOKEN_SECONDS = 8 * 60 * 60;

/** User of the service, and the generation of the password that the user signed in with. Each new password has a higher generation. */
export interface SignedInUser {
  tenantId: number;
  userId: string;
  generation: number;
}

/**
 * User whom a valid token names. A token of the service names the user by id, and a token of the identity provider names the user by
 * e-mail. `expiresAt` is the end of the token.
 */
export type TokenSubject = (SignedInUser | { email: string }) & { expiresAt: Date };

export type VerifyToken = (token: string) => Promise<TokenSubject | null>;

export function issueToken(key: Buffer, user: SignedInUser): Promise<string> {
  return new SignJWT({ tenant: user.tenantId, generation: user.generation })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setSubject(user.userId)
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt()
    .setExpirationTime(`${TOKEN_SECONDS}s`)
    .sign(key);
}

/**
 * Returns a function that verifies tokens of the service and of the configured identity provider. The function resolves to null for a token
 * that is expired, forged or of another issuer. It throws UnavailableError if the provider's keys cannot be fetched. A token has no
 * influence on its own check. The algorithms, the issuer and the audience are fixed, and keys or key URLs inside a token are never used.
 */
export function createTokenVerifier(key: Buffer, provider: IdentityProvider | null): VerifyToken {
  const outside = provider === null ? null : outsideVerifier(provider);
  return async (token) => {
    try {
      const issuer = decodeJwt(token).iss;
      if (provider !== null && outside !== null && issuer === provider.issuer) {
        return await outside(token);
      }
      return await verifyOwn(token, key);
    } catch (error) {
      if (saysTokenIsBad(error)) {
        return null;
      }
      throw new UnavailableError('The keys of the identity provider cannot be fetched. Check AUTH_JWKS_URL.', {
        cause: error,
      });
    }
  };
}

/**
 * Error codes of the library jose which mean that the key set of the identity provider could not be fetched or is not valid. After such an
 * error, the token may still be good.
 */
const KEY_SET_FAULTS = new Set([JOSEError.code, JWKSTimeout.code, JWKSInvalid.code]);

function saysTokenIsBad(error: unknown): boolean {
  return error instanceof JOSEError && !KEY_SET_FAULTS.has(error.code);
}

async function verifyOwn(token: string, key: Buffer): Promise<TokenSubject | null> {
  const { payload } = await jwtVerify(token, key, {
    algorithms: [ALGORITHM],
    issuer: ISSUER,
    audience: AUDIENCE,
    requiredClaims: ['exp', 'sub'],
  });
  // Tokens that were issued before generations were introduced have no generation. They count as generation 0.
  const { sub, tenant, generation = 0 } = payload;
  return sub !== undefined && typeof tenant === 'number' && typeof generation === 'number'
    ? { tenantId: tenant, userId: sub, generation, expiresAt: expiryOf(payload) }
    : null;
}

/** Returns the end of a verified token. A verified token always has the claim `exp`. */
function expiryOf({ exp = 0 }: JWTPayload): Date {
  return new Date(exp * 1000);
}

/** Types of keys that the accepted algorithms use (RFC 7518 §6.1, RFC 8037 §2). */
const OUTSIDE_KEY_TYPES = ['RSA', 'EC', 'OKP'];

/**
 * Fetches the key set of the identity provider, within 5 s.
 * @returns the number of its keys that may verify a token
 * @throws an error of fetch or of the library jose if the key set cannot be fetched or is not valid
 */
export async function countProviderKeys(provider: IdentityProvider): Promise<number> {
  const keySet = remoteKeySet(provider);
  await keySet.reload();
  const keys = keySet.jwks()?.keys ?? [];
  return keys.filter(({ kty = '', use = 'sig' }) => OUTSIDE_KEY_TYPES.includes(kty) && use === 'sig').length;
}

function remoteKeySet({ jwksUrl }: IdentityProvider) {
  return createRemoteJWKSet(jwksUrl, { timeoutDuration: 5_000, cooldownDuration: 30_000 });
}

function outsideVerifier(provider: IdentityProvider): (token: string) => Promise<TokenSubject | null> {
  const keys = remoteKeySet(provider);
  return async (token) => {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: OUTSIDE_ALGORITHMS,
      issuer: provider.issuer,
      audience: provider.audience,
      requiredClaims: ['exp'],
    });
    const { email, email_verified: verified = !provider.requiresVerifiedEmail } = payload;
    // Some identity providers send the text 'true' instead of the boolean true. Both are accepted.
    return typeof email === 'string' && (verified === true || verified === 'true')
      ? { email, expiresAt: expiryOf(payload) }
      : null;
  };
}
