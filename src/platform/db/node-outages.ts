import type pg from 'pg';
import { UnavailableError } from '../errors.ts';
import { isUnavailable } from './failures.ts';
import { look } from './look.ts';

/** Interval in milliseconds at which the service checks if a node that is down has come back. */
const TRY_EVERY_MS = 1_000;
/** Time limit in milliseconds for opening a connection that checks a node, and for each statement on this connection. */
const TIMEOUT_MS = 3_000;

const NODE_OF_TENANT = `
  SELECT n.nodename AS host, n.nodeport AS port FROM pg_dist_placement AS p JOIN pg_dist_node AS n USING (groupid)
  WHERE p.shardid = get_shard_id_for_distribution_column('app_user', $1::bigint) AND n.noderole = 'primary'`;
/**
 * Statement that checks a node. The PostgreSQL server to which the service is connected opens a new connection to the node at `$1:$2`, and
 * runs `SELECT 1` there. `success` is true if this statement succeeded.
 */
const TRY_NODE = `SELECT success FROM master_run_on_worker(ARRAY[$1::text], ARRAY[$2::int], ARRAY['SELECT 1'], false)`;
/**
 * Maximum number of tenants whose nodes are looked up at the same time. Each look-up opens a connection to the database. A caller can send
 * false API keys with the ids of many tenants. Without this bound, the service would open a connection for each of them.
 */
const MAX_LOOK_UPS = 4;
/** Maximum number of tenants whose node is cached. */
const MAX_KNOWN = 10_000;

interface ClusterNode {
  host: string;
  port: number;
}

/**
 * Finds the nodes of a cluster (Citus) that are down, and immediately refuses the statements of the tenants whose data is on these nodes.
 * Without this class, each of these statements would hold a connection of the pool until its time limit. The tenants of the other nodes
 * would then wait for a connection.
 *
 * After a failed statement of a tenant, the class sends a test statement to the tenant's node, through the PostgreSQL server to which the
 * service is connected. If the test fails, the node is down, and the class repeats the test each second until it succeeds. While all nodes
 * are up, the class does not delay statements.
 */
export class NodeOutages {
  readonly #url: string;
  readonly #onChange: (node: string, isDown: boolean) => void;
  readonly #down = new Map<string, ClusterNode>();
  /**
   * Address of the node that stores the data of a tenant, by the tenant's id. Filled while a node is down, and emptied when all nodes are
   * back.
   */
  readonly #nodeOf = new Map<string, Promise<string>>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  /** Number of tenants whose nodes the service is looking up now. */
  #lookUps = 0;

  /** @param onChange called once when a node is found down, and once when it is back */
  constructor(url: string, onChange: (node: string, isDown: boolean) => void) {
    this.#url = url;
    this.#onChange = onChange;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * Waits until the service knows if the node of the tenant is down. If all nodes are up, returns undefined, so that the caller need not
   * wait. Does not wait for an unknown node if the service already looks up the nodes of `MAX_LOOK_UPS` other tenants.
   * @param tenant id of the tenant. For a name that is not an id, such as `STRANGERS` (callers without valid credentials), the function
   * returns undefined.
   * @throws UnavailableError if the node of the tenant is down
   */
  admit(tenant: string): Promise<void> | undefined {
    return this.#down.size === 0 || !isTenant(tenant) ? undefined : this.#refuseIfDown(tenant);
  }

  async #refuseIfDown(tenant: string): Promise<void> {
    if (!this.#nodeOf.has(tenant)) {
      if (this.#lookUps >= MAX_LOOK_UPS) {
        // The service already looks up the nodes of four other tenants, and a wait for them could take seconds. So the statement is sent to
        // the database, although the node of its tenant may be down.
        return;
      }
      this.#remember(tenant);
    }
    if (this.#down.has((await this.#nodeOf.get(tenant)) ?? '')) {
      throw new UnavailableError('The cluster node with the data of this tenant is down. Wait until it is back.', {
        isLogged: true,
      });
    }
  }

  /**
   * Looks up the node of a tenant, and caches the result. A failed look-up is not cached. If the cache is full, its oldest entry is
   * removed.
   */
  #remember(tenant: string): void {
    this.#lookUps += 1;
    const node = look(this.#url, TIMEOUT_MS, async (client) => nameOf(await readNode(client, tenant)))
      .catch(() => {
        this.#nodeOf.delete(tenant);
        return '';
      })
      .finally(() => (this.#lookUps -= 1));
    this.#nodeOf.set(tenant, node);
    const [oldest] = this.#nodeOf.keys();
    if (this.#nodeOf.size > MAX_KNOWN && oldest !== undefined) {
      this.#nodeOf.delete(oldest);
    }
  }

  /** Called after a statement of the tenant has failed. If the error means that the database is unavailable, checks the tenant's node. */
  suspect(tenant: string, error: unknown): void {
    if (isTenant(tenant) && !this.#isLooking && isUnavailable(error)) {
      void this.#examine(async (client) => {
        const node = await readNode(client, tenant);
        await this.#tryNode(client, node);
      });
    }
  }

  async #examine(work: (client: pg.Client) => Promise<void>): Promise<void> {
    if (this.#isLooking) {
      return;
    }
    this.#isLooking = true;
    // An error is ignored here. It means that the service cannot reach its PostgreSQL server, so the statements of all tenants fail anyway.
    await look(this.#url, TIMEOUT_MS, work).catch(() => {});
    this.#isLooking = false;
  }

  async #tryNode(client: pg.Client, node: ClusterNode): Promise<void> {
    const name = nameOf(node);
    const isDown = await client.query<{ success: boolean }>(TRY_NODE, [node.host, node.port]).then(
      ({ rows }) => rows[0]?.success !== true,
      () => true,
    );
    if (isDown === this.#down.has(name)) {
      return;
    }
    if (isDown) {
      this.#down.set(name, node);
      this.#timer ??= setInterval(() => void this.#tryAgain(), TRY_EVERY_MS).unref();
    } else {
      this.#down.delete(name);
    }
    if (this.#down.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#nodeOf.clear();
    }
    this.#onChange(name, isDown);
  }

  async #tryAgain(): Promise<void> {
    for (const node of this.#down.values()) {
      // Each check opens a new connection, because a check that reaches its time limit makes its connection unusable.
      await this.#examine((client) => this.#tryNode(client, node));
    }
  }
}

async function readNode(client: pg.Client, tenant: string): Promise<ClusterNode> {
  const { rows } = await client.query<ClusterNode>(NODE_OF_TENANT, [tenant]);
  const [node] = rows;
  if (node === undefined) {
    throw new Error('The tables of the cluster are not distributed yet. Run "roomservice cluster distribute".');
  }
  return node;
}

function isTenant(name: string): boolean {
  return /^\d+$/.test(name);
}

function nameOf({ host, port }: ClusterNode): string {
  return `${host}:${port}`;
}
