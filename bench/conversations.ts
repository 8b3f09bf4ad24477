import {
  CONVERSATION_SORT_VALUES,
  type ConversationSort,
  type ConversationsQuery,
  type GenerationEvent,
} from '../src/ports/events/events.ts';
import type { DuckdbEventStore } from '../src/store/events/duckdb/event-store.ts';
import { eventHistory, HISTORY_START_MS } from '../test/kit/builders/event-history.ts';
import { logFilterOf } from '../test/kit/builders/log-filter.ts';
import { withFilledEvents } from './filled-events.ts';

/**
 * How long pages of conversations take on the embedded store, in every order: `node scripts/bench.mjs conversations
 * [MILLIONS]`. All generations of 30 days are turns of conversations, ten of each, 500 at a time. With
 * BENCH_DATA=FOLDER the events are kept there for the next run.
 */

const MILLION = 1_000_000;
const DAYS = 30;
const DAY_MS = 86_400_000;
const ROUNDS = 5;
const PAGE_ROWS = 50;
const TURNS = 10;
const AT_A_TIME = 500;

const count = Number(process.argv[2] ?? 1) * MILLION;
const endMs = HISTORY_START_MS + DAYS * DAY_MS;

const ALL: ConversationsQuery = {
  ...logFilterOf({ accountId: 'account-0', fromMs: HISTORY_START_MS, toMs: endMs }),
  sessionSearch: null,
  sort: 'last',
  order: 'desc',
  after: null,
  limit: PAGE_ROWS,
};

const LAST_DAY: Partial<ConversationsQuery> = { fromMs: endMs - DAY_MS };

/** What the console asks for. */
const QUESTIONS: Readonly<Record<string, Partial<ConversationsQuery>>> = {
  'latest first, last day': LAST_DAY,
  'latest first': {},
  'oldest first': { order: 'asc' },
  'of a key, latest first': { keys: ['key-2'] },
  'a part of a session id': { sessionSearch: 'abcd' },
  'a session id of nobody': { sessionIds: ['of-nobody'] },
};

await withFilledEvents('conversations.duckdb', turns, async (events) => {
  for (const [title, change] of Object.entries(QUESTIONS)) await page(events, title, change);
  for (const sort of Object.keys(CONVERSATION_SORT_VALUES) as ConversationSort[]) {
    if (sort === 'last') continue;
    await page(events, `most by ${sort}`, { sort });
    await page(events, `most by ${sort}, last day`, { ...LAST_DAY, sort });
  }
  await page(events, 'page from the middle', {
    after: { value: BigInt(HISTORY_START_MS + 15 * DAY_MS), workspaceId: '', sessionId: '' },
  });
});

function* turns(): Generator<GenerationEvent> {
  let place = 0;
  for (const event of eventHistory(count, DAYS)) {
    const conversation = Math.floor(place / (TURNS * AT_A_TIME)) * AT_A_TIME + (place % AT_A_TIME);
    place += 1;
    // The length of a UUID, in no order.
    const sessionId = ((conversation * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0').repeat(4);
    yield { ...event, ...(event.log && { log: { ...event.log, sessionId } }) };
  }
}

/** Says how long a page takes, and how much processor time of this process: others on the machine do not add to it. */
async function page(
  events: DuckdbEventStore,
  title: string,
  change: Partial<ConversationsQuery>,
): Promise<void> {
  const took: number[] = [];
  const used: number[] = [];
  let rows = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const startedMs = performance.now();
    const before = process.cpuUsage();
    rows = (await events.conversations({ ...ALL, ...change })).conversations.length;
    took.push(performance.now() - startedMs);
    const { user, system } = process.cpuUsage(before);
    used.push((user + system) / 1_000);
  }
  const figures = [median(took), Math.min(...took), median(used)].map((ms) => ms.toFixed(0));
  console.log(`${title}: ${figures[0]} ms, least ${figures[1]}, processor ${figures[2]}; ${rows} rows`);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
