import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { readCsv } from '#test/support/csv.ts';
import { book, dayAhead, openHotel } from '#test/support/hotel.ts';
import { insertOrderAt, report } from '#test/support/reports.ts';
import { useService } from '#test/support/shared-service.ts';

/** Labels that a spreadsheet could take for a formula, or that need quotes. */
const LABELS = [
  '=HYPERLINK("http://evil.example","x")',
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(A1)',
  '\t=1+1',
  '\r=1+1',
  '=1+1\n=2+2',
  '"=1+1"',
  '","=1+1',
  'a\r\n=1+1,b',
  '"',
  '',
  'Zoë’s 饺子 🍕',
  ' spaced ',
  "'quoted",
];
const HEADER =
  'date,orders,order_total,arrivals,rooms_sold,rooms,room_revenue,credential_id,credential_label,credential_orders,credential_total';

const service = await useService();

describe('GET /v1/staff/reports/days/?format=csv', () => {
  it('200: the CSV report has a header row, rows for days and for partners with orders, and no cell that a spreadsheet takes for a formula', async () => {
    const tenant = await service.tenant();
    const ids: string[] = [];
    for (const label of LABELS) {
      const made = await service.call('POST', '/v1/third-party/credentials/', {
        headers: tenant.owner,
        json: { label },
      });
      assert.equal(made.status, 201, made.text);
      ids.push(made.body.id);
      await insertOrderAt(service, tenant, '2026-05-01T10:00:00Z', { credential_id: made.body.id, total: '2.50' });
    }
    const answer = await report(service, tenant, 'from=2026-05-01&to=2026-05-03&format=csv');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="days-2026-05-01-2026-05-03.csv"');
    const [header, ...rows] = readCsv(answer.text);
    assert.equal(header?.join(), HEADER);
    const total = (LABELS.length * 2.5).toFixed(2);
    assert.deepEqual(rows, [
      ['2026-05-01', String(LABELS.length), total, '0', '0', '0', '0.00', '', '', '', ''],
      ...LABELS.map((label, index) => {
        const shown = /^[=+\-@\t\r]/.test(label) ? `'${label}` : label;
        return ['2026-05-01', '', '', '', '', '', '', ids[index], shown, '1', '2.50'];
      }),
      ['2026-05-02', '0', '0.00', '0', '0', '0', '0.00', '', '', '', ''],
    ]);
    for (const cell of rows.flat()) {
      assert.ok(!/^[=+\-@\t\r]/.test(cell), JSON.stringify(cell));
    }
  });

  it('200: numbers in the CSV report have neither quotes nor an apostrophe', async () => {
    const hotel = await openHotel(service);
    await book(service, hotel, { check_in: dayAhead(31), check_out: dayAhead(33) });
    const { status, text } = await report(service, hotel, `from=${dayAhead(31)}&to=${dayAhead(33)}&format=csv`);
    assert.equal(status, 200);
    assert.equal(
      text,
      `${HEADER}\r\n${dayAhead(31)},0,0.00,1,1,18,80.00,,,,\r\n${dayAhead(32)},0,0.00,0,1,18,80.00,,,,\r\n`,
    );
  });

  it('200: the CSV report begins with a byte order mark, without which Excel shows "ZoÃ«" for "Zoë"', async () => {
    const tenant = await service.tenant();
    const url = `${service.url}/v1/staff/reports/days/?from=2026-05-01&to=2026-05-02&format=csv`;
    const bytes = await (await fetch(url, { headers: tenant.owner })).bytes();
    assert.equal(Buffer.from(bytes).toString(), `\uFEFF${HEADER}\r\n2026-05-01,0,0.00,0,0,0,0.00,,,,\r\n`);
  });

  it('200: HEAD gets the headers of the CSV report without its content', async () => {
    const tenant = await service.tenant();
    const path = '/v1/staff/reports/days/?from=2026-05-01&to=2026-05-02&format=csv';
    const answer = await service.call('HEAD', path, { headers: tenant.owner });
    assert.deepEqual([answer.status, answer.text], [200, '']);
    assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
  });

  it('400, 403: an error response of the report is JSON even if the call asks for CSV', async () => {
    const tenant = await service.tenant();
    assertError(await report(service, tenant, 'from=2026-05-01&to=2026-05-01&format=csv'), 400, 'invalid_request');
    const path = '/v1/staff/reports/days/?from=2026-05-01&to=2026-05-02&format=csv';
    assertError(await service.call('GET', path, { headers: tenant.staff }), 403, 'error');
  });
});
