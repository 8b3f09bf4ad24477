import type { Kysely } from 'kysely';
import { nextTurn } from '../../../kit/loop/turns.ts';
import type { App, AppRegistry, AppSighting } from '../../../ports/events/apps.ts';
import { type AppRow, numberOrNull, type Tables } from '../tables.ts';
import { transact } from '../transact.ts';
import { type AppChanges, appChanges, type NotedApp } from './app-changes.ts';

/** Rows per insert: both engines limit the parameters of a statement to some ten thousand. */
const WRITTEN_AT_ONCE = 500;

/** Rows per select: SQLite is read on the main thread, which blocks the event loop. */
const READ_AT_ONCE = 250;

/** Maximum of the column. */
const MAX_ID = 2 ** 31 - 1;

/** Row of `installation` with the id of the newest app. */
const NEWEST_ID = 'newest_app_id';

interface RegisteredApp extends App, NotedApp {}

export class SqlAppRegistry implements AppRegistry {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Writes in slices, so that other writers wait for one slice at most. */
  async note(sightings: readonly AppSighting[]): Promise<void> {
    for (const some of slicesOf(sightings)) await this.#noteSlice(some);
  }

  async ofIds(ids: readonly number[]): Promise<readonly App[]> {
    const possible = ids.filter((id) => id <= MAX_ID);
    return readInTurns(possible, async (some) => {
      const rows = await this.#database.selectFrom('apps').selectAll().where('id', 'in', some).execute();
      return (await withCategories(this.#database, rows)).map(shown);
    });
  }

  async ofHosts(hosts: readonly string[]): Promise<readonly App[]> {
    return readInTurns(hosts, async (some) => (await registeredAt(this.#database, some)).map(shown));
  }

  async idsOf(hosts: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await readInTurns(hosts, (some) =>
      this.#database.selectFrom('apps').select(['host', 'id']).where('host', 'in', some).execute(),
    );
    return new Map(rows.map(({ host, id }) => [host, Number(id)]));
  }

  async hostsOfCategories(categories: readonly string[]): Promise<ReadonlySet<string>> {
    const hosts = new Set<string>();
    for (const category of categories) {
      for await (const page of this.#hostsOf(category)) for (const host of page) hosts.add(host);
    }
    return hosts;
  }

  async count(): Promise<number> {
    const { total } = await this.#database
      .selectFrom('apps')
      .select((select) => select.fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    return Number(total);
  }

  /** Reads in pages, with a turn of the event loop between them. */
  async *#hostsOf(category: string): AsyncGenerator<readonly string[]> {
    for (let last = ''; ; ) {
      const page = await this.#database
        .selectFrom('app_categories')
        .select('host')
        .where('category', '=', category)
        .where('host', '>', last)
        .orderBy('host')
        .limit(READ_AT_ONCE)
        .execute();
      yield page.map(({ host }) => host);
      const end = page[READ_AT_ONCE - 1];
      if (end === undefined) return;
      last = end.host;
      await nextTurn();
    }
  }

  async #noteSlice(sightings: readonly AppSighting[]): Promise<void> {
    const hosts = [...new Set(sightings.map(({ host }) => host))];
    if (isNothing(appChanges(await knownOf(this.#database, hosts), sightings))) return;
    await transact(
      this.#database,
      async (transaction) => {
        const newestId = await lockRegistry(transaction);
        const changes = appChanges(await knownOf(transaction, hosts), sightings);
        await write(transaction, changes, newestId);
      },
      'read committed',
    );
  }
}

/** Locks the registry for the transaction. Resolves with the id of the newest app. */
async function lockRegistry(transaction: Kysely<Tables>): Promise<number> {
  await transaction
    .insertInto('installation')
    .values({ name: NEWEST_ID, value: '0' })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((update) => ({ value: update.ref('installation.value') })),
    )
    .execute();
  const { value } = await transaction
    .selectFrom('installation')
    .select('value')
    .where('name', '=', NEWEST_ID)
    .executeTakeFirstOrThrow();
  return Number(value);
}

async function write(
  transaction: Kysely<Tables>,
  { made, retitled, tagged }: AppChanges,
  newestId: number,
): Promise<void> {
  const rows = made.map(({ host, url, title, titledAtMs }, index) => ({
    id: newestId + 1 + index,
    host,
    url,
    title,
    titled_at_ms: titledAtMs,
  }));
  for (const some of slicesOf(rows)) await transaction.insertInto('apps').values(some).execute();
  for (const { host, title, titledAtMs } of retitled) {
    await transaction
      .updateTable('apps')
      .set({ title, titled_at_ms: titledAtMs })
      .where('host', '=', host)
      .execute();
  }
  for (const some of slicesOf(tagged)) {
    await transaction.insertInto('app_categories').values(some).execute();
  }
  if (made.length === 0) return;
  await transaction
    .updateTable('installation')
    .set({ value: String(newestId + made.length) })
    .where('name', '=', NEWEST_ID)
    .execute();
}

async function knownOf(
  database: Kysely<Tables>,
  hosts: readonly string[],
): Promise<ReadonlyMap<string, RegisteredApp>> {
  const apps = await readInTurns(hosts, (some) => registeredAt(database, some));
  return new Map(apps.map((app) => [app.host, app]));
}

async function registeredAt(database: Kysely<Tables>, hosts: readonly string[]): Promise<RegisteredApp[]> {
  const rows = await database.selectFrom('apps').selectAll().where('host', 'in', hosts).execute();
  return withCategories(database, rows);
}

/** Reads in slices, with a turn of the event loop between them. */
async function readInTurns<Name, Found>(
  names: readonly Name[],
  read: (some: readonly Name[]) => Promise<readonly Found[]>,
): Promise<Found[]> {
  const all: Found[] = [];
  for (let begin = 0; begin < names.length; begin += READ_AT_ONCE) {
    if (begin > 0) await nextTurn();
    all.push(...(await read(names.slice(begin, begin + READ_AT_ONCE))));
  }
  return all;
}

async function withCategories(database: Kysely<Tables>, rows: readonly AppRow[]): Promise<RegisteredApp[]> {
  if (rows.length === 0) return [];
  const tags = await database
    .selectFrom('app_categories')
    .select(['host', 'category'])
    .where(
      'host',
      'in',
      rows.map(({ host }) => host),
    )
    .orderBy('place')
    .execute();
  const categories = new Map<string, string[]>(rows.map(({ host }) => [host, []]));
  for (const { host, category } of tags) categories.get(host)?.push(category);
  return rows.map((row) => ({
    id: Number(row.id),
    host: row.host,
    url: row.url,
    title: row.title,
    titledAtMs: numberOrNull(row.titled_at_ms),
    categories: categories.get(row.host) ?? [],
  }));
}

function shown({ titledAtMs: _, ...app }: RegisteredApp): App {
  return app;
}

function isNothing({ made, retitled, tagged }: AppChanges): boolean {
  return made.length + retitled.length + tagged.length === 0;
}

function* slicesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let begin = 0; begin < items.length; begin += WRITTEN_AT_ONCE) {
    yield items.slice(begin, begin + WRITTEN_AT_ONCE);
  }
}
