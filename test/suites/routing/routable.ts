import { loadModule, parseSync } from 'libpg-query';

/** Node of the syntax tree of PostgreSQL: an object with one key, which is the type of the node. */
type Node = Record<string, unknown>;

/** Facts about tables and functions of the database that the routing check needs. */
interface Catalogue {
  /** Names of the tables that are distributed by `tenant_id`. */
  tenantTables: ReadonlySet<string>;
  /** Names of the functions that PostgreSQL does not declare as IMMUTABLE, for example now(). */
  changingFunctions: ReadonlySet<string>;
}

/**
 * Returns the reasons why a cluster (Citus) would refuse a statement, or send it to more than one node. The list is empty if the statement
 * goes to the node of one tenant.
 *
 * The tenant of a statement must be a parameter. It may also be `coalesce(parameter, column)`, which `src/platform/db/inputs.ts` writes. On
 * one node, this parameter is null, and the statement is for the inputs of several tenants. On a cluster, the parameter is the tenant.
 * @param parameters values of the parameters, if the service sent the statement to a cluster. The parameter of `coalesce` must not be null.
 */
export type FaultsOf = (statement: string, parameters?: readonly unknown[]) => string[];

/** Loads the SQL parser of PostgreSQL and returns the routing check. */
export async function loadRoutingCheck(catalogue: Catalogue): Promise<FaultsOf> {
  await loadModule();
  return (statement, parameters) => {
    const check = new RoutingCheck(catalogue, parameters);
    for (const { stmt } of parseSync(statement).stmts as { stmt?: Node }[]) {
      check.visit(stmt, new Set());
    }
    return check.faults;
  };
}

/** Types of nodes that are query levels. A query level is a statement or subquery with its own tables and its own conditions. */
const LEVELS = ['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt'] as const;
type LevelType = (typeof LEVELS)[number];

/** Tables and subqueries in the FROM of a query level, each with its alias, and the conditions of the query level. */
interface Level {
  tables: { table: string; alias: string }[];
  subqueries: { select: Node; alias: string }[];
  /** Conditions of the WHERE and of the joins, all of which must be true. */
  conditions: Node[];
}

class RoutingCheck {
  readonly faults: string[] = [];
  readonly #catalogue: Catalogue;
  readonly #parameters: readonly unknown[] | undefined;

  constructor(catalogue: Catalogue, parameters: readonly unknown[] | undefined) {
    this.#catalogue = catalogue;
    this.#parameters = parameters;
  }

  /**
   * Visits a node and all nodes inside it, and adds their faults to `faults`.
   * @param withNames names of the CTEs (WITH queries) that the node may read. They do not count as tables
   */
  visit(node: unknown, withNames: ReadonlySet<string>): void {
    if (Array.isArray(node)) {
      node.forEach((each) => this.visit(each, withNames));
    } else if (isNode(node)) {
      for (const [type, value] of Object.entries(node)) {
        const level = LEVELS.find((each) => each === type);
        if (level !== undefined && isNode(value)) {
          this.#visitLevel(level, value, withNames);
        } else {
          this.visit(value, withNames);
        }
      }
    }
  }

  #visitLevel(type: LevelType, statement: Node, outerNames: ReadonlySet<string>): void {
    const { withClause } = statement as { withClause?: { recursive?: boolean; ctes: { CommonTableExpr: Node }[] } };
    const names = new Set([
      ...outerNames,
      ...(withClause?.ctes ?? []).map(({ CommonTableExpr: { ctename } }) => String(ctename)),
    ]);
    if (withClause?.recursive) {
      this.faults.push('has a recursive query');
    }
    if (type === 'MergeStmt') {
      this.faults.push('is a MERGE');
    }
    if (type === 'InsertStmt') {
      this.#checkInsert(statement);
    } else {
      this.#checkTenants(levelOf(statement, names));
    }
    const changed = String((statement['relation'] as Node | undefined)?.['relname']);
    // In the SET of an UPDATE, a cluster may refuse a function that is not immutable, such as now(). It refuses the function if the table
    // is distributed by tenant. For all other tables, it replaces the function by its value before it sends the UPDATE to the nodes.
    if (type === 'UpdateStmt' && this.#catalogue.tenantTables.has(changed)) {
      this.#checkImmutable(statement['targetList'], 'SET');
    }
    for (const [key, value] of Object.entries(statement)) {
      // The two sides of a UNION are SELECTs, and each of them is a query level. The syntax tree has no type name at these two nodes, so
      // the code finds them by the keys `larg` and `rarg`.
      if ((key === 'larg' || key === 'rarg') && type === 'SelectStmt' && isNode(value)) {
        this.#visitLevel('SelectStmt', value, names);
      } else {
        this.visit(value, names);
      }
    }
  }

  #checkInsert(statement: Node): void {
    const relation = String((statement['relation'] as Node | undefined)?.['relname']);
    const columns = ((statement['cols'] ?? []) as { ResTarget: Node }[]).map(({ ResTarget: { name } }) => name);
    const select = ((statement['selectStmt'] as Node | undefined)?.['SelectStmt'] ?? {}) as Node;
    if (this.#catalogue.tenantTables.has(relation)) {
      const value = targetsOf(select)[columns.indexOf('tenant_id')]?.val;
      if (select['valuesLists'] === undefined && !this.#readsTenant(select, value)) {
        this.faults.push(`inserts the rows of a SELECT into "${relation}" that does not read the tenant from a table`);
      }
      if (!columns.includes('tenant_id')) {
        this.faults.push(`inserts into "${relation}" without a tenant`);
      }
    }
    const conflict = statement['onConflictClause'] as Node | undefined;
    this.#checkImmutable(conflict?.['targetList'], 'DO UPDATE SET');
    this.#checkImmutable(conflict?.['whereClause'], 'the WHERE of ON CONFLICT');
    if (conflict !== undefined && nodesOf(conflict, 'SubLink').length > 0) {
      this.faults.push('has a subquery in ON CONFLICT');
    }
  }

  /**
   * Returns true if the value is the `tenant_id` of a distributed table in the FROM of the SELECT, or in a subquery of this FROM. If an
   * INSERT takes its rows from such a SELECT, the cluster can send it to the node of the tenant.
   */
  #readsTenant(select: Node, value: Node | undefined): boolean {
    const { tables, subqueries } = levelOf(select, new Set());
    const source = tenantColumnOf(value, tables.length === 1 ? (tables[0]?.alias ?? '') : '');
    return (
      tables.some(({ table, alias }) => this.#catalogue.tenantTables.has(table) && source === alias) ||
      subqueries.some(
        (subquery) =>
          source === subquery.alias &&
          targetsOf(subquery.select).some(({ val }) => this.#readsTenant(subquery.select, withTenant(val))),
      )
    );
  }

  /**
   * Reports each distributed table of a query level if the conditions of this level do not make its `tenant_id` equal to a parameter. A
   * condition in the outer query is not enough, because a cluster then does not know the tenant of a subquery.
   */
  #checkTenants({ tables, conditions }: Level): void {
    const ofTenants = tables.filter(({ table }) => this.#catalogue.tenantTables.has(table));
    const known = new Set<string>();
    const isGiven = (side: Node | undefined) => isParameter(side) || this.#isParameterOnCluster(side);
    const equal: [string, string][] = [];
    const [first] = tables;
    for (const condition of conditions) {
      const [left, right] = sidesOfEquality(condition);
      const [a, b] = [left, right].map((side) => tenantColumnOf(side, tables.length === 1 ? (first?.alias ?? '') : ''));
      if (a !== undefined && b !== undefined) {
        equal.push([a, b]);
      } else if (a !== undefined && isGiven(right)) {
        known.add(a);
      } else if (b !== undefined && isGiven(left)) {
        known.add(b);
      }
    }
    // Equalities can form a chain, such as a = b and b = c, where a, b and c are the tenant columns of three tables. If the query gives
    // only the value of c, the first run of the outer loop may find only b, and the second run finds a. Each run finds at least one more
    // tenant until no more can be found. So one run for each equality is enough.
    equal.forEach(() => {
      for (const [a, b] of equal) {
        if (known.has(a) || known.has(b)) {
          known.add(a).add(b);
        }
      }
    });
    for (const { table, alias } of ofTenants) {
      if (!known.has(alias)) {
        this.faults.push(`uses "${table}" without its tenant as a parameter in the same query`);
      }
    }
  }

  /** Returns true if the node is `coalesce(parameter, column)`, and the parameter is not null or not known. */
  #isParameterOnCluster(node: Node | undefined): boolean {
    const { args: [first] = [] } = (node?.['CoalesceExpr'] ?? {}) as { args?: Node[] };
    const [parameter] = nodesOf(first, 'ParamRef');
    return isParameter(first) && this.#parameters?.[Number(parameter?.['number']) - 1] !== null;
  }

  #checkImmutable(node: unknown, where: string): void {
    for (const call of nodesOf(node, 'FuncCall')) {
      const name = textOf((call['funcname'] as unknown[]).at(-1)) ?? '';
      if (this.#catalogue.changingFunctions.has(name)) {
        this.faults.push(`calls ${name}() in ${where}, which is not immutable`);
      }
    }
    if (nodesOf(node, 'SQLValueFunction').length > 0) {
      this.faults.push(`has the time or the user of the session in ${where}, which is not immutable`);
    }
  }
}

/** Returns the tables, subqueries and conditions of a query level. Its subqueries are query levels themselves. */
function levelOf(statement: Node, withNames: ReadonlySet<string>): Level {
  const level: Level = {
    tables: [],
    subqueries: [],
    conditions: conjunctsOf(statement['whereClause'] as Node | undefined),
  };
  const addTable = (table: Node) => {
    const { relname, alias } = table as { relname: string; alias?: { aliasname: string } };
    if (!withNames.has(relname)) {
      level.tables.push({ table: relname, alias: alias?.aliasname ?? relname });
    }
  };
  const addItem = (item: Node) => {
    const { RangeVar, JoinExpr, RangeSubselect } = item as {
      RangeVar?: Node;
      JoinExpr?: Node;
      RangeSubselect?: { subquery: { SelectStmt: Node }; alias: { aliasname: string } };
    };
    if (RangeVar !== undefined) {
      addTable(RangeVar);
    }
    if (RangeSubselect !== undefined) {
      level.subqueries.push({ select: RangeSubselect.subquery.SelectStmt, alias: RangeSubselect.alias.aliasname });
    }
    if (JoinExpr !== undefined) {
      addItem(JoinExpr['larg'] as Node);
      addItem(JoinExpr['rarg'] as Node);
      level.conditions.push(...conjunctsOf(JoinExpr['quals'] as Node | undefined));
    }
  };
  const { relation, fromClause, usingClause } = statement as {
    relation?: Node;
    fromClause?: Node[];
    usingClause?: Node[];
  };
  if (relation !== undefined) {
    addTable(relation);
  }
  [...(fromClause ?? []), ...(usingClause ?? [])].forEach(addItem);
  return level;
}

/** Returns the conditions that AND connects. If the condition has no AND, returns only this condition. */
function conjunctsOf(condition: Node | undefined): Node[] {
  const { BoolExpr } = (condition ?? {}) as { BoolExpr?: { boolop: string; args: Node[] } };
  if (BoolExpr?.boolop === 'AND_EXPR') {
    return BoolExpr.args.flatMap(conjunctsOf);
  }
  return condition === undefined ? [] : [condition];
}

/** Returns both sides of an equality: `a = b` or `a = ANY (b)`. Returns undefined for both sides of any other condition. */
function sidesOfEquality(condition: Node): [Node | undefined, Node | undefined] {
  const { A_Expr } = condition as { A_Expr?: { kind: string; name: Node[]; lexpr: Node; rexpr: Node } };
  return textOf(A_Expr?.name[0]) === '=' ? [A_Expr?.lexpr, A_Expr?.rexpr] : [undefined, undefined];
}

function targetsOf(select: Node): { val: Node }[] {
  return ((select['targetList'] ?? []) as { ResTarget: { val: Node } }[]).map(({ ResTarget }) => ResTarget);
}

/** If the node is all columns of a table expression (`found.*`), returns its column `tenant_id`, else the node itself. */
function withTenant(node: Node): Node {
  const { fields = [] } = (node['ColumnRef'] ?? {}) as { fields?: Node[] };
  const [table, star] = fields;
  return star !== undefined && 'A_Star' in star
    ? { ColumnRef: { fields: [table, { String: { sval: 'tenant_id' } }] } }
    : node;
}

/**
 * Returns the names in a reference to a column, for example `event` and `id` for `event.id`. Returns an empty list if the node is not such
 * a reference.
 */
function namesOf(node: Node | undefined): (string | undefined)[] {
  return (((node?.['ColumnRef'] as Node | undefined)?.['fields'] ?? []) as Node[]).map(textOf);
}

/**
 * If this node of the syntax tree is the column `tenant_id` of a table, returns the alias of this table, else undefined.
 * @param onlyAlias the alias to return if the statement names the column without an alias
 */
function tenantColumnOf(node: Node | undefined, onlyAlias: string): string | undefined {
  const names = namesOf(node);
  return names.at(-1) === 'tenant_id' ? (names.at(-2) ?? onlyAlias) : undefined;
}

/** Returns true if the node is a parameter or a constant. The value may have a cast, for example `$1::bigint`. */
function isParameter(node: Node | undefined): boolean {
  const { TypeCast } = (node ?? {}) as { TypeCast?: { arg: Node } };
  return node !== undefined && (TypeCast ? isParameter(TypeCast.arg) : 'ParamRef' in node || 'A_Const' in node);
}

function textOf(node: unknown): string | undefined {
  return (node as { String?: { sval?: string } } | undefined)?.String?.sval;
}

/** Returns all nodes of the given type that are inside a node, at every depth. */
function nodesOf(node: unknown, type: string): Node[] {
  if (Array.isArray(node)) {
    return node.flatMap((each) => nodesOf(each, type));
  }
  return isNode(node)
    ? Object.entries(node).flatMap(([key, value]) => [
        ...(key === type && isNode(value) ? [value] : []),
        ...nodesOf(value, type),
      ])
    : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
