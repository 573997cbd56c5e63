// Its parts alone: the whole of jose takes twice as long to load (22 ms, by itself).
import { JOSEError, JWKSInvalid, JWKSTimeout } from 'jose/errors';
import { createRemoteJWKSet } from 'jose/jwks/remote';
import { decodeJwt } from 'jose/jwt/decode';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import type { IdentityProvider } from '#platform/config.ts';
import { UnavailableError } from '#platform/errors.ts';

const ISSUER = 'roomservice';
const AUDIENCE = 'roomservice';
const ALGORITHM = 'HS256';
/** What an outside provider may sign with: asymmetric alone, so that its public key can never serve as a secret. */
const OUTSIDE_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** Decision 12: 8 hours. */
export const TOKEN_SECONDS = 8 * 60 * 60;

/** One of our users, and the generation of the password that was signed in with. */
export interface SignedInUser {
  tenantId: number;
  userId: string;
  generation: number;
}

/** Whom a valid token names: one of our users by id, or somebody an outside provider knows by e-mail. */
export type TokenSubject = SignedInUser | { email: string };

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
 * A check of tokens, ours and the configured provider's. It gives null for a token that is expired, forged or of anyone else.
 * Algorithms, issuer and audience are pinned; addresses or keys inside the token are never looked at.
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
      throw new UnavailableError('The keys of the identity provider are out of reach.', { cause: error });
    }
  };
}

/** What jose throws where the key set could not be fetched or is none: of that the caller's token is not guilty. */
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
  // Tokens of before there were generations name none: they are of the first.
  const { sub, tenant, generation = 0 } = payload;
  return sub !== undefined && typeof tenant === 'number' && typeof generation === 'number'
    ? { tenantId: tenant, userId: sub, generation }
    : null;
}

function outsideVerifier(provider: IdentityProvider): (token: string) => Promise<TokenSubject | null> {
  const keys = createRemoteJWKSet(provider.jwksUrl, { timeoutDuration: 5_000, cooldownDuration: 30_000 });
  return async (token) => {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: OUTSIDE_ALGORITHMS,
      issuer: provider.issuer,
      audience: provider.audience,
      requiredClaims: ['exp'],
    });
    const { email, email_verified: verified = !provider.requiresVerifiedEmail } = payload;
    // Some providers send the word instead of the boolean.
    return typeof email === 'string' && (verified === true || verified === 'true') ? { email } : null;
  };
}
