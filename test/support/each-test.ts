import { after, before, beforeEach } from 'node:test';
import { startService, type TestService, type TestTenant } from './service.ts';

/**
 * Starts a service for the tests of a file, gives each test a tenant of its own, and closes the service after the last test.
 * @param use receives the service and the tenant before each test
 */
export function openForEachTest(use: (opened: { service: TestService; tenant: TestTenant }) => void): void {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  beforeEach(async () => use({ service, tenant: await service.tenant() }));
  after(() => service.close());
}
