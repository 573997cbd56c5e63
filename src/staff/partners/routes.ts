import Type from 'typebox';
import { CredentialPath } from '#access/credentials/credentials.ts';
import { actorOf } from '#access/tenants/tenants.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { detailOf, listCredentialsWithDeliveries, type Partners } from './partners.ts';
import {
  CredentialChange,
  CredentialRotation,
  RotatedCredential,
  staffCredential,
  staffCredentialDetail,
} from './schema.ts';

interface Dependencies extends Partners {
  ownerGuard: Guard;
  /** Schema of a credential in API responses. The routes in this file add fields to the schema. */
  shape: Type.TObject;
}

const PATH = '/v1/staff/credentials/';
const SHARED = { tags: ['Credentials'] };
const NOT_FOUND = { status: 404, code: 'error', message: 'No such credential.' } as const;

/**
 * Registers the routes that an owner calls to see and change the credentials of partners. The routes also show the deliveries and the
 * budget of calls. `GET /v1/third-party/credentials/` cannot show these values, because the contract fixes the fields of its response.
 */
export function partnerRoutes(app: App, dependencies: Dependencies): void {
  listRoute(app, dependencies);
  detailRoutes(app, dependencies);
  rotateRoute(app, dependencies);
}

function listRoute(app: App, { credentials, db, ownerGuard, shape }: Dependencies): void {
  const entry = staffCredential(shape);
  app.get(
    PATH,
    {
      onRequest: ownerGuard,
      schema: {
        ...SHARED,
        operationId: 'listStaffCredentials',
        summary: 'List the third-party credentials with the state of their deliveries',
        description:
          'Lists all third-party credentials, newest first, including revoked credentials. Each entry shows how many deliveries wait and ' +
          'how many have failed, so that you see if the receiver of a partner is down. Only the owner may call it.',
        response: { 200: Type.Array(entry) },
      },
    },
    async (request) => await listCredentialsWithDeliveries(db, credentials, request.staff.tenant.id),
  );
}

function detailRoutes(app: App, dependencies: Dependencies): void {
  const { ownerCredentials, ownerGuard, shape } = dependencies;
  const detail = staffCredentialDetail(shape);
  app.get(
    `${PATH}:id/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND] },
      schema: {
        ...SHARED,
        operationId: 'getStaffCredential',
        summary: 'Read a credential with its budget of calls and its last 24 hours',
        description:
          'Shows the fields of the list. Also shows how much of its budget of calls the credential has used, and the results of its ' +
          'deliveries in each of the last 24 hours. The id may also be the id of a PMS credential. Only the owner may call this ' +
          'operation.',
        params: CredentialPath,
        response: { 200: detail },
      },
    },
    async ({ staff, params }) => {
      const tenantId = staff.tenant.id;
      return await detailOf(dependencies, tenantId, await ownerCredentials.read(tenantId, params.id));
    },
  );
  app.patch(
    `${PATH}:id/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND] },
      schema: {
        ...SHARED,
        operationId: 'changeStaffCredential',
        summary: 'Change the label of a credential',
        description:
          'Changes the label of a credential of a partner or of a PMS, also of a revoked one. Key and secret stay the same. Only the ' +
          'owner may call it.',
        params: CredentialPath,
        body: CredentialChange,
        response: { 200: detail },
      },
    },
    async ({ staff, params, body }) =>
      await detailOf(
        dependencies,
        staff.tenant.id,
        await ownerCredentials.rename(actorOf(staff), params.id, body.label),
      ),
  );
}

function rotateRoute(app: App, { ownerCredentials, ownerGuard }: Dependencies): void {
  app.post(
    `${PATH}:id/rotate/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND, 'invalid_status_transition'] },
      schema: {
        ...SHARED,
        operationId: 'rotateStaffCredential',
        summary: 'Replace the secret of a credential, and let the old secret work for a while',
        description:
          'Replaces the secret of a credential of a partner or of a PMS. Only this response shows the new secret. The key stays the ' +
          'same. The replaced secret works until `previous_secret_ends_at`, so that the partner can change its servers one after the ' +
          'other. At most two secrets work at the same time: if you rotate again, the oldest secret ends immediately. A revoke ends ' +
          'both. The webhook secret is another secret, and stays the same. A credential that is revoked, or whose API key the operator has ' +
          'discarded, cannot be rotated. This operation is not idempotent. If the response is lost, the secret that the partner uses still works for `overlap_minutes`. To get a new secret, ' +
          "rotate again. But the second rotation ends the partner's secret immediately. Only the owner may call this operation.",
        params: CredentialPath,
        body: CredentialRotation,
        response: { 200: RotatedCredential },
      },
    },
    async ({ staff, params, body }) => await ownerCredentials.rotate(actorOf(staff), params.id, body.overlap_minutes),
  );
}
