import { after, before, beforeEach } from 'node:test';
import { startService, type TestService, type TestTenant } from './service.ts';

/**
 * Starts one service for all tests of the calling file, and closes it after the last test. Each test gets a new tenant.
 * @param use receives the service and the new tenant before each test
 */
export function openForEachTest(use: (opened: { service: TestService; tenant: TestTenant }) => void): void {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  beforeEach(async () => use({ service, tenant: await service.tenant() }));
  after(() => service.close());
}
