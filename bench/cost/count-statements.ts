import { createRequire } from 'node:module';
import { PROBE_ENV, SHARED_PLACES } from './probe-protocol.ts';

type Members = Record<string, (...args: unknown[]) => unknown>;

const SQLITE_STATEMENT = ['run', 'get', 'all', 'iterate'];
const DUCKDB = ['query', 'execute_prepared', 'execute_prepared_streaming', 'start_prepared'];
const DUCKDB_BINDINGS = /@duckdb.node-bindings(\/duckdb\.js)?$/;

/** Counts the statements that this thread runs in SQLite and DuckDB. */
export function countStatements(counts: Int32Array): void {
  const require = createRequire(process.env[PROBE_ENV.program] ?? '');
  const counting = (owner: Members, names: readonly string[]) => {
    for (const name of names) {
      const own = owner[name];
      if (own === undefined) continue;
      owner[name] = function (this: unknown, ...args: unknown[]) {
        Atomics.add(counts, SHARED_PLACES.statements, 1);
        return own.apply(this, args);
      };
    }
  };
  const database = (require('libsql') as { prototype: Members }).prototype;
  const prepare = database.prepare as Members[string];
  let isStatementKnown = false;
  database.prepare = function (this: unknown, ...args: unknown[]) {
    const statement = prepare.apply(this, args) as object;
    if (!isStatementKnown) counting(Object.getPrototypeOf(statement), SQLITE_STATEMENT);
    isStatementKnown = true;
    return statement;
  };
  counting(database, ['exec']);

  // Loaded late, because it is large; and its members are read only, so those who load it get a copy.
  const modules = require('node:module') as { _load(name: string, ...rest: unknown[]): unknown };
  const load = modules._load;
  let copy: Members | undefined;
  modules._load = (name, ...rest) => {
    const loaded = load(name, ...rest) as Members;
    if (!DUCKDB_BINDINGS.test(name)) return loaded;
    if (copy === undefined) {
      const members = Object.getOwnPropertyNames(loaded);
      copy = Object.fromEntries(members.map((member) => [member, loaded[member]])) as Members;
      counting(copy, DUCKDB);
    }
    return copy;
  };
}
