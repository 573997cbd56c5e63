import { createHmac, randomBytes } from 'node:crypto';
import type { Area, Feature } from '#access/tenants/tenants.ts';
import { issueToken } from '#access/tenants/tokens.ts';
import { channelHeaders, makeChannel, nowSeconds } from '../../../support/channel.ts';
import { pmsHeaders } from '../../../support/hotel.ts';
import type { TestService } from '../../../support/service.ts';
import { CONSOLE, openDisplay, openSession, SESSION } from '../../../support/sessions.ts';
import type { House } from './house.ts';
import { AREAS, refusalOf, type Right, type Role } from './rights.ts';

const DAY_SECONDS = 86_400;

type Headers = Record<string, string>;
/** Returns the headers that prove who calls. A channel signs the bytes of the body. */
type HeadersFor = (body: Buffer) => Headers;

/** Kind of callers that prove their identity in the same way. */
type Claim = 'person' | 'partner' | 'pms' | 'channel';

/** A caller of the service. */
export interface Caller {
  name: string;
  role: Role;
  features: readonly Feature[];
  /**
   * Kind of caller whom the service must not know, because the proof of identity is wrong. It calls only the operations of this kind. Null
   * for all other callers.
   */
  claims: Claim | null;
  headersFor: HeadersFor;
}

/** The callers of one tenant that may call the operations of their kind. */
export interface Household {
  hotel: House;
  owner: Caller;
  partner: Caller;
  /** Another partner of the tenant. It sees nothing of the first one. */
  sibling: Caller;
  pms: Caller;
  channel: Caller;
}

/** Returns the status with which an operation refuses a caller, or null if the caller may call it. */
export function statusFor(right: Right, feature: Feature | null, caller: Caller): 401 | 403 | null {
  const lacksFeature = right !== 'public' && feature !== null && !caller.features.includes(feature);
  return refusalOf(right, caller.role) ?? (lacksFeature ? 403 : null);
}

/** Returns true if the caller is for operations with this right. */
export function isFor(right: Right, { claims }: Caller): boolean {
  const isOfCredentials = right === 'partner' || right === 'pms' || right === 'channel';
  return claims === null || claims === (isOfCredentials ? right : 'person');
}

function callerOf(name: string, role: Role, features: readonly Feature[], headers: Headers | HeadersFor): Caller {
  return { name, role, features, claims: null, headersFor: typeof headers === 'function' ? headers : () => headers };
}

const NOBODY: Role = { kind: 'nobody', areas: [] };

export async function openHousehold(service: TestService, hotel: House): Promise<Household> {
  const { slug, features } = hotel.document;
  const caller = (kind: Role['kind'], headers: Headers | HeadersFor) =>
    callerOf(`${kind} of ${slug}`, { kind, areas: [] }, features, headers);
  const channel = await makeChannel(service, hotel);
  return {
    hotel,
    owner: caller('owner', hotel.owner),
    partner: caller('partner', hotel.partner),
    sibling: caller('partner', (await service.credential(hotel.tenantId)).partner),
    pms: caller('pms', await pmsHeaders(service, hotel)),
    channel: caller('channel', (body) => withoutType(channelHeaders(channel, body))),
  };
}

/** Returns the member of the household who may call operations with this right. */
export function rightfulCaller(right: Right, household: Household): Caller {
  switch (right) {
    case 'partner':
    case 'pms':
    case 'channel':
      return household[right];
    case 'public':
      return callerOf('nobody', NOBODY, [], {});
    default:
      return household.owner;
  }
}

/** Opens the callers of the tenant with all roles and areas, and the callers whom the service must not know. */
export async function openCallers(service: TestService, household: Household): Promise<Caller[]> {
  const { hotel, owner, partner, pms, channel } = household;
  const { tenantId, document } = hotel;
  const cookie = await openSession(service, tenantId, 'owner');
  const staff = await Promise.all([...AREAS, 'nothing' as const].map((name) => staffOf(service, hotel, name)));
  const displays = AREAS.map(async (area) => {
    const { headers } = await openDisplay(service, tenantId, [area]);
    return callerOf(`display of ${area}`, { kind: 'display', areas: [area] }, document.features, headers);
  });
  return [
    owner,
    callerOf('owner with a cookie', owner.role, document.features, cookie.headers),
    ...staff,
    ...(await Promise.all(displays)),
    partner,
    pms,
    channel,
    ...(await unknownCallers(service, household)),
  ];
}

async function staffOf(service: TestService, hotel: House, name: Area | 'nothing'): Promise<Caller> {
  const { tenantId, document } = hotel;
  const { id, generation } = await service.database.db
    .selectFrom('app_user')
    .select(['id', 'generation'])
    .where('tenant_id', '=', tenantId)
    .where('email', '=', `${name}@${document.slug}.example`)
    .executeTakeFirstOrThrow();
  const token = await issueToken(service.keyring.token, { tenantId, userId: id, generation });
  const role: Role = { kind: 'staff', areas: name === 'nothing' ? [] : [name] };
  return callerOf(`staff of ${name}`, role, document.features, { authorization: `Bearer ${token}` });
}

/** Opens callers with missing, wrong, old and ended credentials, and with the credentials of another API. */
async function unknownCallers(service: TestService, { hotel, pms }: Household): Promise<Caller[]> {
  const { tenantId, owner, partner } = hotel;
  const ended = await openSession(service, tenantId, 'owner');
  await service.call('DELETE', SESSION, { headers: ended.headers });
  const open = await openSession(service, tenantId, 'owner');
  const revoked = await service.credential(tenantId);
  const path = `/v1/third-party/credentials/${revoked.credential.id}/revoke/`;
  await service.call('POST', path, { headers: owner });
  const channel = await makeChannel(service, hotel, 'another-ota');
  const wrong = randomBytes(32).toString('base64url');
  const pmsKeys = pms.headersFor(Buffer.alloc(0));
  const { authorization: token = '' } = owner;
  const late = { at: nowSeconds() - DAY_SECONDS };
  const claims: [Claim, string, Headers | HeadersFor][] = [
    ['person', 'forged token', { authorization: forged(token) }],
    ['person', 'token of another scheme', { authorization: token.replace('Bearer', 'Basic') }],
    ['person', 'the console without a session', CONSOLE],
    ['person', 'ended session', ended.headers],
    ['person', 'session without the header of the console', { cookie: open.headers['cookie'] ?? '' }],
    ['partner', 'partner with a wrong secret', { ...partner, 'x-api-secret': wrong }],
    ['partner', 'partner without a secret', { 'x-api-key': partner['x-api-key'] ?? '' }],
    ['partner', 'revoked partner', revoked.partner],
    ['partner', 'credential of a PMS', renamed(pmsKeys, 'x-pms-api-', 'x-api-')],
    ['pms', 'credential of a partner', renamed(partner, 'x-api-', 'x-pms-api-')],
    ['pms', 'PMS with a wrong secret', { ...pmsKeys, 'x-pms-api-secret': wrong }],
    ['channel', 'wrong secret', (body) => withoutType(channelHeaders({ ...channel, channel_secret: wrong }, body))],
    ['channel', 'signature of yesterday', (body) => withoutType(channelHeaders(channel, body, late))],
    ['channel', 'signature of other bytes', () => withoutType(channelHeaders(channel, 'other bytes'))],
  ];
  return [
    callerOf('no credentials', NOBODY, [], {}),
    ...claims.map(([claim, name, headers]) => ({ ...callerOf(name, NOBODY, [], headers), claims: claim })),
  ];
}

function renamed(headers: Headers, from: string, to: string): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replace(from, to), value]));
}

function withoutType({ 'content-type': _type, ...headers }: Headers): Headers {
  return headers;
}

/** Replaces the signature of a token with one that a wrong key has made. */
function forged(authorization: string): string {
  const signed = authorization.split('.').slice(0, 2).join('.');
  return `${signed}.${createHmac('sha256', 'no key of the service').update(signed).digest('base64url')}`;
}
