import { Session } from 'node:inspector/promises';
import { startService } from '#test/support/service.ts';
import { it } from 'node:test';
import { callUnchecked } from '#test/support/http.ts';
it('way', async () => {
  const service = await startService();
  const tenant = await service.tenant();
  const place = (n: number) => service.call('POST', '/v1/third-party/orders/', { headers: tenant.partner, json: { external_order_id: `A-${n}`, items: [{ item_id: process.env['SKU'] ?? tenant.document.menu!.dishes[0]!.sku, quantity: 1 }] } });
  console.log((await place(1)).text);
  await place(2); await place(3);
  await new Promise((r) => setTimeout(r, 1500));
  const session = new Session(); session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  const r = await place(4);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  console.log(r.status);
  let files = 0, fns = 0;
  for (const { url, functions } of result) {
    if (!url.includes('/src/')) continue;
    const used = functions.filter((f) => f.ranges[0]!.count > 0 && f.functionName !== '').map((f) => f.functionName);
    if (used.length === 0) continue;
    files++; fns += used.length;
    console.log(url.replace(/.*\/src\//, ''), used.join(' '));
  }
  console.log(files, fns);
  await service.close();
});
