import { randomBytes } from 'node:crypto';
import { startChild } from './child.ts';
import { compare, type Run } from './compare.ts';
import { type DeliveryStand, openDeliveryStand } from './delivery-stand.ts';
import type { LoadJob, Slice } from './load-worker.ts';
import type { Options } from './options.ts';
import type { Postgres } from './postgres.ts';
import { seedHouses } from './seed.ts';
import { openStand, type Stand } from './stand.ts';
import { stock } from './stock.ts';
import type { Goal, Row } from './table.ts';
import { templateName } from './template.ts';

/** Two services side by side. */
export interface Stocked {
  few: Stand;
  stocked: Stand;
}

/** What the operations measure with. What is made here is closed at the end of the run, the last first. */
export class World {
  readonly options: Options;
  /** What has to be stopped or removed at the end, or where the run is interrupted. */
  readonly resources: AsyncDisposableStack;
  readonly #postgres: Postgres;
  readonly #load;
  readonly #runTag = randomBytes(3).toString('hex');
  #jobs = 0;
  #lean: Promise<Stand> | undefined;
  #stocked: Promise<Stocked> | undefined;
  #deliveries: Promise<DeliveryStand> | undefined;

  constructor(options: Options, postgres: Postgres, resources: AsyncDisposableStack) {
    this.options = options;
    this.#postgres = postgres;
    this.resources = resources;
    this.#load = resources.use(startChild<LoadJob, Slice>('load-worker.ts'));
  }

  /** The service on a database with little in it beside the tenants themselves. */
  lean(): Promise<Stand> {
    this.#lean ??= this.#openStand('bench_lean');
    return this.#lean;
  }

  /** The service on years of use, and another on a database as lean as at the start. */
  stocked(): Promise<Stocked> {
    this.#stocked ??= this.#openStocked();
    return this.#stocked;
  }

  async #openStocked(): Promise<Stocked> {
    const { sizes } = this.options;
    const base = await this.#ensureHouses();
    const kind = 'seed_stocked';
    const name = templateName(kind, sizes);
    await this.#postgres.ensureTemplate({ kind, name, base, fill: (url) => stock(url, sizes) });
    return { few: await this.#openStand('bench_few'), stocked: await this.#openStand('bench_stocked', {}, name) };
  }

  /** The service with receivers to deliver to. */
  deliveries(): Promise<DeliveryStand> {
    this.#deliveries ??= openDeliveryStand({
      resources: this.resources,
      masterKey: this.#postgres.masterKey,
      openStand: (settings) => this.#openStand('bench_deliveries', settings),
    });
    return this.#deliveries;
  }

  /**
   * The service on a database of its own, until the end of the run.
   * @param settings of the service, beside those that all have
   * @param template what the database is a copy of; the tenants alone where left out
   */
  async #openStand(database: string, settings: Record<string, string> = {}, template?: string): Promise<Stand> {
    const url = await this.#postgres.clone(template ?? (await this.#ensureHouses()), database);
    return this.resources.use(await openStand(this.#postgres, url, settings));
  }

  /** @returns the name of the template with the tenants in it */
  async #ensureHouses(): Promise<string> {
    const { sizes } = this.options;
    const kind = 'seed_houses';
    const name = templateName(kind, sizes);
    await this.#postgres.ensureTemplate({
      kind,
      name,
      fill: (url) => seedHouses(url, this.#postgres.masterKey, sizes),
    });
    return name;
  }

  /** A slice of load. `{id}` in a body is replaced by a text that no call of any run has had. */
  load(job: Omit<LoadJob, 'seconds' | 'idPrefix'>): Run {
    return (seconds) => this.#load.ask({ ...job, seconds, idPrefix: `${this.#runTag}-${(this.#jobs += 1)}` });
  }

  /** Subject and floor side by side, as one row of the table. */
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

/** From this share of a core on the generator may have been what was measured. */
const GENERATOR_LIMIT = 0.9;

function noteOn(subject: Slice, floor: Slice): { note: string } | undefined {
  const limited = Object.entries({ subject, floor }).filter(
    ([, slice]) => (slice.generatorLoad ?? 0) > GENERATOR_LIMIT,
  );
  return limited.length === 0
    ? undefined
    : { note: `generator busy at ${limited.map(([name]) => name).join(' and ')}` };
}
