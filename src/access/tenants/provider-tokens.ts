// Only the needed modules of the library jose are imported, because loading the whole library takes twice as long.
import type { CryptoKey, JWK, JWSHeaderParameters, JWTVerifyResult } from 'jose';
import {
  JOSEError,
  JWKSMultipleMatchingKeys,
  JWKSNoMatchingKey,
  JWKSTimeout,
  JWSSignatureVerificationFailed,
  JWTInvalid,
} from 'jose/errors';
import { createLocalJWKSet } from 'jose/jwks/local';
import { createRemoteJWKSet, customFetch, type FetchImplementation, type RemoteJWKSet } from 'jose/jwks/remote';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { type JWTVerifyOptions, jwtVerify } from 'jose/jwt/verify';
import type { IdentityProvider } from '#platform/config.ts';
import { callOut, readText } from '#platform/http/outgoing.ts';

/**
 * Signature algorithms that are accepted from the identity provider: all asymmetric algorithms of the library jose. If a symmetric
 * algorithm were accepted, the provider's public key would serve as the secret of the signature. Then everybody could forge tokens.
 */
const ALGORITHMS =
  'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519 ML-DSA-44 ML-DSA-65 ML-DSA-87'.split(' ');
/** Shortest RSA key with which jose verifies a signature, in bits. */
const MIN_RSA_BITS = 2_048;
/** Time in seconds by which the clocks of the provider and of this machine may differ. */
const LEEWAY_SECONDS = 30;

/** Person whom a token of the provider names. `expiresAt` is the end of the time for which the token is accepted. */
export interface ProviderSubject {
  email: string;
  expiresAt: Date;
}

/**
 * Returns a function that verifies tokens of the identity provider.
 * @throws (the function) an error of the library jose, whose message contains no part of the token that could be secret
 */
export function createProviderVerifier(provider: IdentityProvider): (token: string) => Promise<ProviderSubject> {
  const keySet = remoteKeySet(provider);
  const options: JWTVerifyOptions = {
    algorithms: ALGORITHMS,
    issuer: provider.issuer,
    audience: provider.audience,
    requiredClaims: ['exp'],
    clockTolerance: LEEWAY_SECONDS,
  };
  return async (token) => {
    const { payload } = await verifyWithFreshKeys(token, keySet, options);
    const { email, email_verified: verified = !provider.requiresVerifiedEmail, exp = 0 } = payload;
    if (typeof email !== 'string') {
      throw new JWTInvalid('the claim email is missing or is not a text');
    }
    // Some identity providers send the text 'true' instead of the boolean true. Both are accepted.
    if (verified !== true && verified !== 'true') {
      throw new JWTInvalid('the claim email_verified is not true');
    }
    return { email, expiresAt: new Date((exp + LEEWAY_SECONDS) * 1_000) };
  };
}

export async function countProviderKeys(provider: IdentityProvider): Promise<number> {
  const keySet = remoteKeySet(provider);
  await keySet.reload();
  const areUsable = await Promise.all(keySet.jwks()?.keys.map(isUsable) ?? []);
  return areUsable.filter(Boolean).length;
}

async function isUsable(jwk: JWK): Promise<boolean> {
  const keySet = createLocalJWKSet({ keys: [jwk] });
  const imported = await Promise.allSettled(ALGORITHMS.map((alg) => keySet({ alg })));
  return imported.some((key) => key.status === 'fulfilled' && !isShortRsaKey(key.value));
}

function isShortRsaKey({ algorithm }: CryptoKey): boolean {
  return 'modulusLength' in algorithm && Number(algorithm.modulusLength) < MIN_RSA_BITS;
}

function remoteKeySet({ jwksUrl }: IdentityProvider): RemoteJWKSet {
  return createRemoteJWKSet(jwksUrl, { timeoutDuration: 5_000, cooldownDuration: 30_000, [customFetch]: fetchKeys });
}

const fetchKeys: FetchImplementation = async (url, { headers, signal }) => {
  try {
    const response = await callOut(new URL(url), { method: 'GET', headers: Object.fromEntries(headers), signal });
    if (response.statusCode !== 200) {
      response.destroy();
      throw new Error(`it responds with ${response.statusCode}`);
    }
    return new Response(await readText(response));
  } catch (error) {
    // Errors of the fetch become errors of jose, so that they differ from errors of a single key.
    throw signal.aborted ? new JWKSTimeout() : new JOSEError((error as Error).message, { cause: error });
  }
};

/**
 * Verifies a token. If no key fits its signature, fetches the key set again, but at most every 30 s, because the provider may have replaced
 * a key without a key id (kid).
 */
async function verifyWithFreshKeys(token: string, keySet: RemoteJWKSet, options: JWTVerifyOptions) {
  try {
    return await verifyWithAny(token, keySet, options);
  } catch (error) {
    if (!(error instanceof JWSSignatureVerificationFailed) || keySet.coolingDown) {
      throw error;
    }
    await keySet.reload();
    return await verifyWithAny(token, keySet, options);
  }
}

async function verifyWithAny(token: string, keySet: RemoteJWKSet, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  let failure: unknown = new JWKSNoMatchingKey();
  for await (const key of candidatesFor(decodeProtectedHeader(token), keySet)) {
    try {
      return await jwtVerify(token, key, options);
    } catch (error) {
      // An error that is not of jose means that jose cannot use this key, for example because an RSA key is too short.
      if (error instanceof JOSEError && !(error instanceof JWSSignatureVerificationFailed)) {
        throw error;
      }
      failure = error;
    }
  }
  throw failure;
}

/** Finds the keys for a token: the keys with its key id (kid), or else the keys without a key id. */
async function* candidatesFor(
  header: JWSHeaderParameters,
  keySet: Pick<RemoteJWKSet, 'jwks'> & ((header: JWSHeaderParameters) => Promise<CryptoKey>),
): AsyncGenerator<CryptoKey> {
  try {
    yield await keySet(header);
  } catch (error) {
    if (error instanceof JWKSMultipleMatchingKeys) {
      yield* error;
    } else if (error instanceof JWKSNoMatchingKey && 'kid' in header) {
      const { kid: _, ...rest } = header;
      const keys = keySet.jwks()?.keys.filter(({ kid }) => kid === undefined) ?? [];
      yield* candidatesFor(rest, createLocalJWKSet({ keys }));
    } else {
      throw error;
    }
  }
}
