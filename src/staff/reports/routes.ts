import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { sendCsv } from '#platform/http/list.ts';
import { daysAsCsv, reportDays } from './reports.ts';
import { DAY_EXAMPLE, DayReport, DayReportQuery } from './schema.ts';

export function reportRoutes(app: App, { db, ownerGuard }: { db: Database; ownerGuard: Guard }): void {
  app.get(
    '/v1/staff/reports/days/',
    {
      onRequest: ownerGuard,
      config: { place: 'report', csvExample: daysAsCsv([DAY_EXAMPLE]) },
      schema: {
        operationId: 'reportDays',
        summary: 'Read the orders and the stays of each day',
        description:
          'Returns one entry for each day of the range, also for a day without orders and stays. The days of orders are days in the ' +
          'time zone of the tenant, so a day of a clock change has 23 or 25 hours. The days of stays are dates at their property. ' +
          'The report counts the orders and stays as they are stored now, so a later cancellation changes the report.\n\n' +
          'With `format=csv`, the response is a file for a spreadsheet, which begins with a byte order mark. Each day has one row with its values, and then one row for ' +
          'each partner with orders on this day. The columns of a day are empty in the rows of partners, so the sum of a column counts no ' +
          'value twice. A text that a spreadsheet would take for a formula, for example the label `=1+1`, has an apostrophe before it. ' +
          'Only the owner may call this operation.',
        tags: ['Reports'],
        querystring: DayReportQuery,
        response: { 200: Type.Array(DayReport) },
      },
    },
    async (request, reply) => {
      const { staff, query } = request;
      const { from, to, format } = query;
      const days = await reportDays(db, staff.tenant, query);
      if (format !== 'csv') {
        return days;
      }
      return sendCsv(reply, `days-${from}-${to}.csv`, daysAsCsv(days));
    },
  );
}
