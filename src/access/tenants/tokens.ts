// Only the needed modules of the library jose are imported, because loading the whole library takes twice as long.
import { JOSEError, JWKSInvalid, JWKSTimeout, JWTInvalid } from 'jose/errors';
import { decodeJwt } from 'jose/jwt/decode';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import type { Logger } from 'pino';
import type { IdentityProvider } from '#platform/config.ts';
import { UnavailableError } from '#platform/errors.ts';
import { createProviderVerifier, type ProviderSubject } from './provider-tokens.ts';

const ISSUER = 'roomservice';
const AUDIENCE = 'roomservice';
const ALGORITHM = 'HS256';
/** Lifetime of an access token: 8 hours (rule 12). */
export const TOKEN_SECONDS = 8 * 60 * 60;

/** Each new password has a higher generation. */
interface SignedInUser {
  tenantId: number;
  userId: string;
  generation: number;
}

/** A token of the service names the user by id, and a token of the identity provider names the user by e-mail. */
export type TokenSubject =
  | (SignedInUser & { expiresAt: Date })
  | (ProviderSubject & { noteRefusal: (reason: string) => void });

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
 * Returns a function that verifies tokens of the service and of the configured identity provider. A token has no influence on its own
 * check. The algorithms, the issuer and the audience are fixed, and keys or key URLs inside a token are never used.
 */
export function createTokenVerifier(key: Buffer, provider: IdentityProvider | null, log: Logger): VerifyToken {
  if (provider === null) {
    return async (token) => await verifyOwn(token, key).catch(() => null);
  }
  const verifyOutside = createProviderVerifier(provider);
  const noteRefusal = (reason: string) => log.info({ reason }, 'a token of the identity provider was refused');
  return async (token) => {
    const issuer = issuerOf(token);
    if (issuer === ISSUER || issuer === undefined) {
      return await verifyOwn(token, key).catch(() => null);
    }
    try {
      if (issuer !== provider.issuer) {
        throw new JWTInvalid('the issuer of the token is not AUTH_ISSUER');
      }
      return { ...(await verifyOutside(token)), noteRefusal };
    } catch (error) {
      if (error instanceof JOSEError && KEY_SET_FAULTS.has(error.code)) {
        throw new UnavailableError('The keys of the identity provider cannot be fetched. Check AUTH_JWKS_URL.', {
          cause: error,
        });
      }
      noteRefusal((error as Error).message.slice(0, 200));
      return null;
    }
  };
}

/** Error codes of the library jose which mean that the key set of the identity provider could not be fetched or is not valid. */
const KEY_SET_FAULTS = new Set([JOSEError.code, JWKSTimeout.code, JWKSInvalid.code]);

/** Returns the issuer that a token names, before any check of the token. Returns undefined if the token is malformed or names no issuer. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

async function verifyOwn(token: string, key: Buffer): Promise<TokenSubject | null> {
  const { payload } = await jwtVerify(token, key, {
    algorithms: [ALGORITHM],
    issuer: ISSUER,
    audience: AUDIENCE,
    requiredClaims: ['exp', 'sub'],
  });
  const { sub, tenant, generation, exp = 0 } = payload;
  return sub !== undefined && typeof tenant === 'number' && typeof generation === 'number'
    ? { tenantId: tenant, userId: sub, generation, expiresAt: new Date(exp * 1_000) }
    : null;
}
