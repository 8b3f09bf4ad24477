import { setTimeout as delay } from 'node:timers/promises';
import { CompiledQuery, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/kit/time/clock.ts';
import type { Change } from '../../../src/ports/shared/changes.ts';
import {
  type AskDatabase,
  type ChangePosition,
  readChanges,
} from '../../../src/store/changes/change-rows.ts';
import { PostgresChanges } from '../../../src/store/changes/postgres-changes.ts';
import { type OpenedPostgres, openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { SqlByokStore } from '../../../src/store/sql/stores/sql-byok-store.ts';
import { SqlGuardrailStore } from '../../../src/store/sql/stores/sql-guardrail-store.ts';
import { SqlImportedUsage } from '../../../src/store/sql/stores/sql-imported-usage.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import { newCredentialOf } from '../../kit/builders/byok.ts';
import { assignmentOf, guardrailOf } from '../../kit/builders/guardrails.ts';
import { openTcpProxy } from '../../kit/fakes/tcp-proxy.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';
import { changesContract } from '../contracts/changes.ts';

const server = await postgresForTests();

/** Long enough for any machine: nothing but the end of a wait depends on it. */
const PATIENCE = { timeout: 20_000, interval: 20 };

if (server !== undefined) {
  let url: string;
  let postgres: OpenedPostgres;
  let ask: AskDatabase;
  /** How often a shared connection was asked. */
  let askedShared = 0;
  const opened: PostgresChanges[] = [];

  beforeEach(async () => {
    askedShared = 0;
    url = await server.emptyDatabase();
    postgres = await openPostgres(addressOf(url), { nowMs: 1 });
    ask = (statement, parameters) =>
      postgres.database.executeQuery(CompiledQuery.raw(statement, [...parameters])) as Promise<never>;
  });

  afterEach(async () => {
    for (const changes of opened.splice(0)) await changes.close();
    await postgres.close();
  });

  /** Polls rarely unless told otherwise, so that a test sees what it asks for. */
  const openChanges = async (everyMs = 600_000, address = addressOf(url)) => {
    const changes = new PostgresChanges({
      address,
      askShared: (...asked) => {
        askedShared++;
        return ask(...asked);
      },
      clock: systemClock,
      warn: () => {},
      everyMs,
    });
    opened.push(changes);
    await changes.start();
    const heard: Change[] = [];
    changes.subscribe((change) => heard.push(change));
    return { changes, heard };
  };

  changesContract('on PostgreSQL', async () => ({
    here: (await openChanges()).changes,
    now: () => systemClock.monotonic(),
  }));

  const insertAccount = () =>
    sql`insert into accounts (id, name, created_at_ms) values ('account', 'n', 1)`.execute(postgres.database);

  const insertKey = (hash: string) =>
    sql`insert into keys (hash, account_id, workspace_id, name, label, is_management, disabled, created_at_ms)
        values (${hash}, 'account', 'w1', 'n', 'l', 0, 0, 1)`;

  const insertWorkspace = () =>
    sql`insert into workspaces (id, account_id, slug, name, is_default, created_at_ms)
        values ('w1', 'account', 's', 'n', 1, 1)`.execute(postgres.database);

  describe('changes noted by triggers', () => {
    it('name what was changed, for every table that is cached', async () => {
      const { changes, heard } = await openChanges();
      const { database } = postgres;
      const tenancy = new SqlTenancy(database);
      const since = async (work: () => Promise<unknown>) => {
        heard.length = 0;
        await work();
        await changes.catchUp();
        return [...new Map(heard.map((change) => [JSON.stringify(change), change])).values()];
      };
      const key = { kind: 'key', hash: 'h' };
      const workspace = { kind: 'workspace', id: 'w1' };
      const credentials = { kind: 'credentials', accountId: 'account' };
      const guarded = { kind: 'guardrails', accountId: 'account' };
      await insertAccount();
      expect(await since(insertWorkspace)).toEqual([workspace]);
      expect(await since(() => insertKey('h').execute(database))).toEqual([key]);
      expect(await since(() => sql`update keys set disabled = 1`.execute(database))).toEqual([key]);
      const budget = {
        id: 'b',
        workspaceId: 'w1',
        window: 'daily' as const,
        limitNanos: 5n,
        createdAtMs: 1,
        updatedAtMs: 1,
      };
      expect(await since(() => tenancy.setBudget('w1', () => budget, undefined))).toEqual([workspace]);
      const byok = new SqlByokStore(database, async () => {});
      expect(await since(() => byok.insert(newCredentialOf({ id: 'c', workspaceId: 'w1' })))).toEqual([
        credentials,
      ]);
      const guardrails = new SqlGuardrailStore(database);
      const guardrail = guardrailOf({ id: 'g', accountId: 'account', workspaceId: 'w1' });
      expect(await since(() => guardrails.insert(guardrail))).toEqual([guarded]);
      const assignment = assignmentOf({ guardrailId: 'g', accountId: 'account', subject: 'h' });
      expect(await since(() => guardrails.assign([assignment]))).toEqual([guarded]);
      const imports = new SqlImportedUsage(database, 1_000);
      const slice = { id: 'i', events: 1, lastEventMs: 1, content: 'x' };
      expect(await since(() => imports.add(slice, 1))).toEqual([{ kind: 'imported-usage' }]);
      expect(await since(() => tenancy.deleteKey('h'))).toContainEqual(key);
    });

    it('are written once for a transaction that changes a thing often', async () => {
      await insertAccount();
      await insertWorkspace();
      await postgres.database.transaction().execute(async (transaction) => {
        await insertKey('h').execute(transaction);
        for (let time = 0; time < 3; time++) await sql`update keys set name = 'm'`.execute(transaction);
      });
      const { rows } = await sql`select subject from changes where kind = 'key'`.execute(postgres.database);
      expect(rows).toEqual([{ subject: 'h' }]);
    });
  });

  describe('reading changes', () => {
    const note = (subject: string, database = postgres.database) =>
      sql`insert into changes (kind, subject) values ('key', ${subject})`.execute(database);

    it('finds those of transactions that end in another order than they began, each once', async () => {
      await note('before');
      let position: ChangePosition | undefined;
      const read = async () => {
        const page = await readChanges(ask, position);
        position = page.position;
        return page.changes.map((change) => (change.kind === 'key' ? change.hash : change.kind));
      };
      expect(await read()).toEqual(['anything']);
      const first = await postgres.database.startTransaction().execute();
      await note('began first', first);
      await note('began second');
      expect(await read()).toContain('began second');
      await note('began third');
      expect(await read()).toEqual(['began third']);
      expect(await read()).toEqual([]);
      await first.commit().execute();
      expect(await read()).toEqual(['began first']);
      expect(await read()).toEqual([]);
      const undone = await postgres.database.startTransaction().execute();
      await note('undone', undone);
      expect(await read()).toEqual([]);
      await undone.rollback().execute();
      await note('last');
      expect(await read()).toEqual(['last']);
      expect(await read()).toEqual([]);
    });

    it('takes a kind that it does not know, and another server, for anything', async () => {
      const { position } = await readChanges(ask, undefined);
      await sql`insert into changes (kind, subject) values ('of a newer release', 's')`.execute(
        postgres.database,
      );
      const { changes } = await readChanges(ask, position);
      expect(changes).toEqual([{ kind: 'anything' }]);
      expect((await readChanges(ask, { ...position, server: 'another' })).changes).toEqual([
        { kind: 'anything' },
      ]);
    });
  });

  describe('PostgresChanges', () => {
    beforeEach(async () => {
      await insertAccount();
      await insertWorkspace();
    });

    const isKey = (hash: string) => (change: Change) => change.kind === 'key' && change.hash === hash;

    it('hears of a change by notification, long before it would ask', async () => {
      const { heard } = await openChanges();
      await insertKey('h').execute(postgres.database);
      await vi.waitFor(() => expect(heard.some(isKey('h'))).toBe(true), PATIENCE);
    });

    it('hears of changes by notification again after its own connection was lost', async () => {
      const { changes, heard } = await openChanges();
      const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
        where query like '%pg_postmaster_start_time%' and pid <> pg_backend_pid()`.execute(
        postgres.background,
      );
      await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(postgres.background);
      await vi.waitFor(async () => {
        const before = askedShared;
        await changes.catchUp();
        // The connection may not be known to be lost yet.
        expect(before).toBeGreaterThan(0);
        expect(askedShared).toBe(before);
      }, PATIENCE);
      await insertKey('h').execute(postgres.database);
      await vi.waitFor(() => expect(heard.some(isKey('h'))).toBe(true), PATIENCE);
    });

    it('asks by a shared connection while it cannot have its own', async () => {
      const { heard } = await openChanges(50, { ...addressOf(url), port: 1 });
      await insertKey('h').execute(postgres.database);
      await vi.waitFor(() => expect(heard.some(isKey('h'))).toBe(true), PATIENCE);
    });

    it('asks by a shared connection while its own is silent', async () => {
      const address = addressOf(url);
      const proxy = await openTcpProxy({ path: `${address.host}/.s.PGSQL.${address.port}` });
      const { heard } = await openChanges(50, { ...address, host: '127.0.0.1', port: proxy.port });
      expect(askedShared).toBe(0);
      proxy.setFault('black-hole');
      await insertKey('h').execute(postgres.database);
      await vi.waitFor(() => expect(heard.some(isKey('h'))).toBe(true), PATIENCE);
      expect(askedShared).toBeGreaterThan(0);
      await proxy.close();
    });

    it('opens a new connection when those that are open are silent', async () => {
      const address = addressOf(url);
      const proxy = await openTcpProxy({ path: `${address.host}/.s.PGSQL.${address.port}` });
      const { heard } = await openChanges(50, { ...address, host: '127.0.0.1', port: proxy.port });
      const through = ask;
      ask = () => new Promise(() => {});
      // What is open stays dead, and what is opened later works.
      proxy.setFault('black-hole');
      proxy.setFault('none');
      await insertKey('h').execute(postgres.database);
      await vi.waitFor(() => expect(heard.some(isKey('h'))).toBe(true), PATIENCE);
      ask = through;
      await proxy.close();
    });

    it('says that anything may have changed after the server was started again', async () => {
      const { changes, heard } = await openChanges(50);
      const before = changes.seenUntilMs();
      await server.stop();
      await expect(changes.catchUp()).rejects.toThrow();
      await delay(100);
      const lost = changes.seenUntilMs();
      expect(lost).toBeGreaterThanOrEqual(before);
      await server.start();
      await vi.waitFor(() => expect(changes.seenUntilMs()).toBeGreaterThan(lost), PATIENCE);
      expect(heard).toContainEqual({ kind: 'anything' });
    });

    it('removes old changes, and keeps those that a gateway may not have read', async () => {
      const hoursAgo = Date.now() - 2 * 3_600_000;
      await sql`insert into changes (kind, subject, changed_at_ms)
        values ('key', 'old', ${hoursAgo}), ('key', 'new', ${Date.now()})`.execute(postgres.database);
      await openChanges(50);
      await vi.waitFor(async () => {
        const { rows } = await sql`select subject from changes where kind = 'key'`.execute(postgres.database);
        expect(rows).toEqual([{ subject: 'new' }]);
      }, PATIENCE);
    });
  });
}
