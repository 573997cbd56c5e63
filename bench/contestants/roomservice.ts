import { untilRecorded, writeEvents } from '../events.ts';
import { startService } from '../service.ts';
import { connect } from '../sql.ts';
import type { Caller } from '../stand.ts';
import type { Contestant, Field } from './contestant.ts';

export const ROOMSERVICE = 'Roomservice';

interface Settings {
  databaseUrl: string;
  databasePid: number;
  /** Partners in the order of the receivers: the webhook URL of the first partner leads to the first receiver, and so on. */
  partners: Caller[];
  /** Environment variables of the service, in addition to `DATABASE_URL`. */
  service: Record<string, string>;
}

/** Starts the service as a process that only runs the deliveries. */
export async function openRoomservice({ resources }: Field, settings: Settings): Promise<Contestant> {
  const { databaseUrl, databasePid, partners } = settings;
  const service = resources.use(
    await startService({ DATABASE_URL: databaseUrl, ...settings.service }, ['--only', 'worker']),
  );
  const client = resources.adopt(await connect(databaseUrl), (each) => each.end());
  return {
    name: ROOMSERVICE,
    guarantees:
      'at least once, PostgreSQL with fsync. Each attempt is counted and committed before its POST. An event gets at most 5 POSTs. Each ' +
      'outcome is committed after its POST, in batches. If a process dies, its deliveries are sent again after 15 s. A receiver ' +
      'gets at most 32 of the 512 places. All slow and failing receivers together have at most half of the places.',
    pid: service.pid,
    storePid: databasePid,
    async store(receivers, events) {
      await client.query('VACUUM event, delivery');
      await client.query('BEGIN');
      await writeEvents(client, partners.slice(0, receivers), events);
      await client.query('ANALYZE event, delivery');
      return async () => void (await client.query('COMMIT'));
    },
    untilRecorded: () => untilRecorded(client, partners),
  };
}
