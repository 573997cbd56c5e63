import { actorOf } from '#access/tenants/tenants.ts';
import type { Database } from '#platform/db/database.ts';
import { noSuch } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { MAX_RATES_DOCUMENT_BYTES } from '#platform/lib/bounds.ts';
import { checkAmounts, checkPrices } from './quote.ts';
import { changeRatePlan, changeRates } from './rate-changes.ts';
import { ChangedRatePlan, RateChanges, RatePlanChange, RatePlanPath, RatesChanged } from './staff-schema.ts';

export function rateStaffRoutes(app: App, { db, rateGuard }: { db: Database; rateGuard: Guard }): void {
  app.patch(
    '/v1/staff/rates/',
    {
      onRequest: rateGuard,
      bodyLimit: MAX_RATES_DOCUMENT_BYTES,
      config: { place: 'document', errors: [noSuch('rate plan'), 'invalid_status_transition'] },
      schema: {
        tags: ['Rates'],
        operationId: 'changeRates',
        summary: 'Change the prices and restrictions of nights',
        description:
          'Changes 1 to 1,000 nights of one or several rate plans. If one entry is refused, the call changes no night. An entry ' +
          'changes only the values that it has. The response lists only the nights whose values differ from before, each with ' +
          'both values, so a console can show what has changed and take it back. If nights do not have their `expected` values, ' +
          'the message names the first of them.\n\n' +
          'Partners see the new prices immediately. A stay that is booked keeps its price.',
        body: RateChanges,
        response: { 200: RatesChanged },
      },
    },
    async ({ staff, body }) => {
      checkPrices('changes', body.changes, staff.tenant.currency);
      return await changeRates(db, actorOf(staff), body);
    },
  );
  app.patch(
    '/v1/staff/rate-plans/:id/',
    {
      onRequest: rateGuard,
      config: { errors: [noSuch('rate plan')] },
      schema: {
        tags: ['Rates'],
        operationId: 'changeRatePlan',
        summary: 'Change the base price or the shortest stay of a rate plan',
        description:
          'Changes only the fields that are sent. Nights with a price of their own keep it, and a stay that is booked keeps its ' +
          'price. Partners see the change immediately. The tenant document sets the same fields, so the next document with a ' +
          'part `properties` writes its values again.',
        params: RatePlanPath,
        body: RatePlanChange,
        response: { 200: ChangedRatePlan },
      },
    },
    async ({ staff, params, body }) => {
      checkAmounts([['base_price', body.base_price]], staff.tenant.currency);
      return await changeRatePlan(db, actorOf(staff), params.id, body);
    },
  );
}
