import { createHash } from 'node:crypto';
import {
  type Dialect,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { expect, it } from 'vitest';
import { firstMigration } from './0001-first.ts';

const SQLITE: Dialect = {
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (database) => new SqliteIntrospector(database),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};

const POSTGRES: Dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (database) => new PostgresIntrospector(database),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};

it.each([
  ['sqlite', SQLITE, 'aeba24bf1f30ec87a7c6be1e6f0bf694'],
  ['postgres', POSTGRES, '219ecd5959ee5ed24d1e11bea412a286'],
] as const)(
  'makes the schema of 0.1.0, which is never changed again: %s',
  async (engine, dialect, digest) => {
    const statements: string[] = [];
    const database = new Kysely<unknown>({
      dialect,
      log({ query }) {
        statements.push(query.sql.replace(/\s+/g, ' ').trim());
      },
    });
    await firstMigration.up(database, engine);
    expect(createHash('sha256').update(statements.join('\n')).digest('hex').slice(0, 32)).toBe(digest);
  },
);
