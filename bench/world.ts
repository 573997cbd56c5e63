import { randomBytes } from 'node:crypto';
import { startChild } from './child.ts';
import { compare, type Run } from './compare.ts';
import { type Directus, openDirectus } from './contestants/directus.ts';
import { type DeliveryStand, openDeliveryStand } from './delivery-stand.ts';
import type { LoadJob, Slice } from './load-worker.ts';
import type { Options } from './options.ts';
import type { Postgres } from './postgres.ts';
import { type OwnerOf, ownersOf } from './owners.ts';
import { openQueueStand, type QueueStand } from './queue-stand.ts';
import { seedTenants } from './seed.ts';
import { type Service, startService } from './service.ts';
import { openStaffStand, type StaffStand } from './staff-stand.ts';
import { openStand, type Stand } from './stand.ts';
import { storeStaffData } from './staff-data.ts';
import { stock } from './stock.ts';
import type { Goal, Row } from './table.ts';
import { templateName } from './template.ts';

/**
 * Amounts of data in the database on which the lists of the staff API are measured. `roomTypes` is the number of room types of each tenant.
 */
const STAFF_SIZES = { tenants: 20, credentialsPerTenant: 3, roomTypes: 8, fewOrders: 0 };

/** Two running services that a measurement compares. */
interface Stocked {
  /** Service on a database with little data. */
  few: Stand;
  /** Service on a database with as much data as after years of use. */
  stocked: Stand;
}

/**
 * Services, databases and load generator that the operations of the benchmark share. All are closed at the end of the run, in reverse order
 * of creation.
 */
export class World {
  readonly options: Options;
  /** Processes that are stopped and folders that are removed at the end of the run, even if the run is interrupted. */
  readonly resources: AsyncDisposableStack;
  readonly #postgres: Postgres;
  readonly #load;
  readonly #runTag = randomBytes(3).toString('hex');
  #jobs = 0;
  #lean: Promise<Stand> | undefined;
  #stocked: Promise<Stocked> | undefined;
  #deliveries: Promise<DeliveryStand> | undefined;
  #splitDeliveries: Promise<DeliveryStand> | undefined;
  #queues: Promise<QueueStand> | undefined;

  constructor(options: Options, postgres: Postgres, resources: AsyncDisposableStack) {
    this.options = options;
    this.#postgres = postgres;
    this.resources = resources;
    this.#load = resources.use(startChild<LoadJob, Slice>('load-worker.ts'));
  }

  /** Returns the service whose database holds the tenants and little other data. */
  lean(): Promise<Stand> {
    this.#lean ??= this.#openStand('bench_lean');
    return this.#lean;
  }

  /** Returns two services: `stocked` on a database with as much data as after years of use, and `few` on a database with little data. */
  stocked(): Promise<Stocked> {
    this.#stocked ??= this.#openStocked();
    return this.#stocked;
  }

  async #openStocked(): Promise<Stocked> {
    const { sizes } = this.options;
    const base = await this.#ensureTenantTemplate();
    const kind = 'seed_stocked';
    const name = templateName(kind, sizes);
    await this.#postgres.ensureTemplate({ kind, name, base, fill: (url) => stock(url, sizes) });
    return {
      few: await this.#openStand('bench_few'),
      stocked: await this.#openStand('bench_stocked', {}, { template: name }),
    };
  }

  /** Returns a service and the receivers of its deliveries. */
  deliveries(): Promise<DeliveryStand> {
    this.#deliveries ??= this.#openDeliveries('bench_deliveries', 0);
    return this.#deliveries;
  }

  /** Returns a service whose API and deliveries run in separate processes, and the receivers of its deliveries. */
  splitDeliveries(workers: number): Promise<DeliveryStand> {
    this.#splitDeliveries ??= this.#openDeliveries('bench_split_deliveries', workers);
    return this.#splitDeliveries;
  }

  /** Returns a service on which the CPU time and the storage for each kind of call are measured, and the receivers of its deliveries. */
  costs(settings: Record<string, string>): Promise<DeliveryStand> {
    return this.#openDeliveries('bench_costs', 0, settings);
  }

  #openDeliveries(
    database: string,
    workers: number,
    extraSettings: Record<string, string> = {},
  ): Promise<DeliveryStand> {
    return openDeliveryStand({
      resources: this.resources,
      masterKey: this.#postgres.masterKey,
      openStand: (settings) => this.#openStand(database, { ...settings, ...extraSettings }, { workers }),
    });
  }

  /** Process id of the postmaster of all databases. */
  get postgresPid(): number {
    return this.#postgres.pid;
  }

  /**
   * Returns many receivers of deliveries, and the programs that send to these receivers. The programs are the service, queue libraries, and
   * the floor (a program without a queue). The operations `queues-…` compare these programs.
   */
  queues(): Promise<QueueStand> {
    this.#queues ??= this.#openQueues();
    return this.#queues;
  }

  async #openQueues(): Promise<QueueStand> {
    const databaseUrl = await this.#postgres.clone(await this.#ensureTenantTemplate(), 'bench_queues');
    return await openQueueStand({ resources: this.resources, postgres: this.#postgres, databaseUrl });
  }

  /**
   * Starts a service on its own database. The service runs until the end of the benchmark.
   * @param settings additional settings of the service, which override its usual settings
   * @param template template of the database. If left out, it is the template that has only the tenants
   * @param workers number of processes that only run the deliveries, beside one process that only runs the API. If 0, one process runs the
   * API and the deliveries
   */
  async #openStand(
    database: string,
    settings: Record<string, string> = {},
    { template, workers = 0 }: { template?: string; workers?: number } = {},
  ): Promise<Stand> {
    const url = await this.#postgres.clone(template ?? (await this.#ensureTenantTemplate()), database);
    return this.resources.use(await openStand(this.#postgres, url, settings, workers));
  }

  /** Starts two processes of the service on one database. The process `second` runs only the API, without the deliveries. */
  async twoNodes(database: string): Promise<{ stand: Stand; second: Service; ownerOf: OwnerOf }> {
    const { masterKey } = this.#postgres;
    const stand = await this.#openStand(database);
    const settings = { DATABASE_URL: stand.databaseUrl, MASTER_KEY: masterKey.toString('base64') };
    const second = this.resources.use(await startService(settings, ['--only', 'api']));
    return { stand, second, ownerOf: await ownersOf(masterKey, stand) };
  }

  /** Starts Directus on its own database, with as many orders as the database of `lean` has. Installs it first if it is missing. */
  async directus(): Promise<Directus> {
    const databaseUrl = await this.#postgres.clone('template0', 'bench_directus');
    return await openDirectus(this.resources, databaseUrl, this.options.sizes.fewOrders);
  }

  /** Starts a service on a database whose first tenant has long lists. */
  async staffLists(): Promise<StaffStand> {
    const kind = 'seed_staff_lists';
    const sizes = { ...this.options.sizes, ...STAFF_SIZES };
    const name = templateName(kind, sizes);
    const { masterKey } = this.#postgres;
    await this.#postgres.ensureTemplate({
      kind,
      name,
      fill: async (url) => {
        await seedTenants(url, masterKey, sizes);
        await storeStaffData(url);
      },
    });
    return await openStaffStand(await this.#openStand('bench_staff_lists', {}, { template: name }), masterKey);
  }

  /** Makes a database that holds the tenants, and returns its URL. No service runs on it. */
  async tenantDatabase(name: string): Promise<string> {
    return await this.#postgres.clone(await this.#ensureTenantTemplate(), name);
  }

  /** Makes the template database that holds the tenants, if it is missing. Returns its name. */
  async #ensureTenantTemplate(): Promise<string> {
    const { sizes } = this.options;
    const kind = 'seed_houses';
    const name = templateName(kind, sizes);
    await this.#postgres.ensureTemplate({
      kind,
      name,
      fill: (url) => seedTenants(url, this.#postgres.masterKey, sizes),
    });
    return name;
  }

  /**
   * Returns a function that produces load for one slice (one measurement). Replaces `{id}` in the body of each call with a text that no
   * other call has, also not in earlier runs of the benchmark.
   */
  load(job: Omit<LoadJob, 'seconds' | 'idPrefix'>): Run {
    return (seconds) => this.#load.ask({ ...job, seconds, idPrefix: `${this.#runTag}-${(this.#jobs += 1)}` });
  }

  /**
   * Measures a subject (the service) and its floor alternately, and returns one row of the results table. The floor is a bare server or
   * bare queries. The row compares the service with this floor.
   */
  async row(operation: string, stand: Stand, runs: { subject: Run; floor: Run }, goal?: Goal): Promise<Row> {
    const { subject, floor, ratio } = await compare(runs.subject, runs.floor, this.options);
    return {
      operation,
      perSecond: subject.perSecond,
      p50Ms: subject.p50Ms,
      p99Ms: subject.p99Ms,
      floorPerSecond: floor.perSecond,
      ratio,
      memoryMb: await stand.service.rssMb(),
      ...(goal ? { goal } : {}),
      ...noteOn(subject, floor),
    };
  }
}

/**
 * Share of one CPU core, from 0 to 1. If the load generator uses more, a note in the table says that the generator may limit the result.
 */
const GENERATOR_LIMIT = 0.9;

function noteOn(subject: Slice, floor: Slice): { note: string } | undefined {
  const limited = Object.entries({ subject, floor }).filter(
    ([, slice]) => (slice.generatorLoad ?? 0) > GENERATOR_LIMIT,
  );
  return limited.length === 0
    ? undefined
    : { note: `the load generator may limit ${limited.map(([name]) => name).join(' and ')}` };
}
