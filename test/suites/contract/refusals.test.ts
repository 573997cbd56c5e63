import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestService } from '../../support/service.ts';
import {
  acceptCallers,
  hideHouse,
  refuseCallers,
  refuseForeignIds,
  refuseMethods,
  refusePaths,
} from './refusals/access.ts';
import { openCallers, openHousehold } from './refusals/callers.ts';
import { Findings } from './refusals/findings.ts';
import { openHouse, reopen, rowReader, startContractService } from './refusals/house.ts';
import {
  acceptAt,
  acceptRequest,
  boundsOf,
  ignoreBodies,
  refuseBeyond,
  refuseBodies,
  refuseParameters,
} from './refusals/input.ts';
import { readOperations } from './refusals/operations.ts';
import { RIGHTS } from './refusals/rights.ts';
import { type Scene, subjectOf } from './refusals/subject.ts';

/** Operations that do not accept their smallest request, with the status of the response and the reason. */
const NOT_ACCEPTED: Record<string, [status: number, reason: string]> = {
  pairDisplay: [401, 'the pairing code is unknown'],
  choosePassword: [401, 'the link is unknown'],
  welcomeOwner: [401, 'the link is unknown'],
  startSession: [401, 'the person is unknown'],
  makeBusy: [404, 'no simulation runs'],
  signIn: [401, 'the person is unknown'],
  changePassword: [401, 'the current password is wrong'],
  changeReservationStatus: [409, 'the stay has this status already'],
};

const operations = readOperations();

let service: TestService;
let scene: Scene;
let readRows: () => Promise<Record<string, string>>;
before(async () => {
  service = await startContractService();
  const house = await openHousehold(service, await openHouse(service, 'contract-house', ['restaurant', 'hotel']));
  const rival = await openHousehold(service, await openHouse(service, 'contract-rival', ['restaurant', 'hotel']));
  const kitchen = await openHousehold(service, await openHouse(service, 'contract-kitchen', ['restaurant']));
  const lodge = await openHousehold(service, await openHouse(service, 'contract-lodge', ['hotel']));
  const ofOneFeature = [kitchen, lodge].flatMap(({ owner, partner, channel }) => [owner, partner, channel]);
  scene = { service, operations, house, rival, callers: [...(await openCallers(service, house)), ...ofOneFeature] };
  readRows = await rowReader(service);
});
after(() => service.close());

describe('the refusals of each operation', () => {
  it('each operation of the documents has an entry in the table of rights, and each entry has an operation', () => {
    assert.deepEqual(operations.map(({ id }) => id).sort(), Object.keys(RIGHTS).sort());
  });

  for (const operation of operations) {
    it(`${operation.id} refuses who may not call it and what breaks a rule, and nothing else`, async () => {
      const findings = new Findings();
      const subject = await subjectOf(scene, operation, findings);
      const bounds = boundsOf(subject);
      const rows = await readRows();
      await refuseCallers(subject);
      await refuseMethods(subject);
      await refusePaths(subject);
      await refuseForeignIds(subject);
      await refuseBodies(subject);
      await refuseParameters(subject);
      await refuseBeyond(subject, bounds);
      const left = await readRows();
      const changed = Object.keys(rows).filter((table) => left[table] !== rows[table]);
      findings.check('the tables that refused calls have changed', () => assert.deepEqual(changed, []));
      await hideHouse(subject);
      await acceptRequest(subject, NOT_ACCEPTED[operation.id]?.[0]);
      await acceptAt(subject, bounds);
      await acceptCallers(subject);
      await ignoreBodies(subject, NOT_ACCEPTED[operation.id]?.[0]);
      if (/\/(pause|opening-hours)\//.test(operation.path)) {
        await reopen(service, scene.house.hotel);
      }
      findings.assertNone();
    });
  }
});
