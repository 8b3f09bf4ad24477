import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  EventQuery,
  EventStore,
  GenerationEvent,
  TagGrouping,
  TagQuery,
} from '../../../src/ports/events/events.ts';
import type { ClassifierTag } from '../../../src/ports/following/classifiers.ts';
import { eventHistory, HISTORY_START_MS } from '../../kit/builders/event-history.ts';
import { countEvents } from './count-events.ts';
import type { EventStoreUnderTest } from './event-store.ts';

const DAY_MS = 86_400_000;
const DAYS = 4;
const CLASSIFIER = '00000000-0000-4000-8000-00000000000c';
const OTHER = '00000000-0000-4000-8000-00000000000d';
const HOSTILE = `it's "x"; --\t\\`;
const TOPICS = ['billing', 'returns', HOSTILE];

const HISTORY = [...eventHistory(900, DAYS)];

function tag(
  event: GenerationEvent,
  dimension: string,
  value: string,
  classifierId = CLASSIFIER,
): ClassifierTag {
  return { generationId: event.id, classifierId, createdAtMs: event.createdAtMs, dimension, value };
}

/** Every third event has no tag, every fourth of the others no `mood`. */
function tagsOf(event: GenerationEvent, index: number): ClassifierTag[] {
  if (index % 3 === 0) return [];
  const topic = tag(event, 'topic', TOPICS[index % TOPICS.length] as string);
  return index % 4 === 0 ? [topic] : [topic, tag(event, 'mood', index % 5 < 2 ? 'calm' : 'angry')];
}

const TAGS = HISTORY.flatMap(tagsOf);

const query = (tags: Partial<TagQuery>, more: Partial<EventQuery> = {}): EventQuery => ({
  accountId: null,
  metrics: ['request_count', 'total_usage'],
  dimensions: [],
  granularity: null,
  startMs: HISTORY_START_MS,
  endMs: HISTORY_START_MS + DAYS * DAY_MS,
  filters: [],
  order: null,
  limit: 10_000,
  groupLimit: null,
  tags: { classifierId: CLASSIFIER, grouping: null, filters: [], ...tags },
  ...more,
});

const grouping = (names: readonly string[] | null, includesUntagged = false): TagGrouping => ({
  names,
  includesUntagged,
});

/** What a query with tags must find: each event once for each of its groups. */
function counted(tags: readonly ClassifierTag[], asked: EventQuery): unknown[] {
  const { grouping: groups = null, filters = [] } = asked.tags ?? {};
  const rows = new Map<string, GenerationEvent[]>();
  for (const event of HISTORY) {
    const own = tags.filter(
      ({ generationId, classifierId }) => generationId === event.id && classifierId === CLASSIFIER,
    );
    const tagged = (name: string) => own.find(({ dimension }) => dimension === name)?.value ?? null;
    const passes = filters.every(({ dimension, operator, values }) => {
      const value = tagged(dimension);
      return value !== null && values.includes(value) === (operator === 'in');
    });
    if (!passes) continue;
    for (const group of groupsOf(groups, own, tagged)) {
      const key = JSON.stringify(group);
      rows.set(key, [...(rows.get(key) ?? []), event]);
    }
  }
  return [...rows].flatMap(([key, events]) =>
    countEvents(events, asked).map(({ dimensions, ...row }) => ({
      ...row,
      dimensions: [...dimensions, ...JSON.parse(key)],
    })),
  );
}

function groupsOf(
  asked: TagGrouping | null,
  own: readonly ClassifierTag[],
  tagged: (name: string) => string | null,
): (string | null)[][] {
  if (asked === null) return [[]];
  const groups =
    asked.names === null
      ? own.length === 0
        ? [[null, null]]
        : own.map(({ dimension, value }) => [dimension, value])
      : [asked.names.map(tagged)];
  return asked.includesUntagged ? groups : groups.filter((values) => !values.includes(null));
}

const sorted = (rows: readonly unknown[]) =>
  rows
    .map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value)))
    .sort();

/** What every EventStore does with tags. `open` gives an empty one each time. */
export function eventTagsContract(name: string, open: () => Promise<EventStoreUnderTest>): void {
  describe(`tags of an EventStore: ${name}`, () => {
    let under: EventStoreUnderTest;
    let events: EventStore;

    beforeAll(async () => {
      under = await open();
      events = under.events;
      // Before their events, twice, and beside those of another classifier.
      await events.addTags(TAGS.slice(0, 300));
      await events.append(HISTORY);
      await events.addTags([...TAGS, ...TAGS.slice(0, 40)]);
      await events.addTags([]);
      await events.addTags(HISTORY.map((event) => tag(event, 'topic', 'billing', OTHER)));
    });

    afterAll(() => under.close());

    async function agrees(asked: EventQuery): Promise<void> {
      const { rows } = await events.query(asked);
      expect(
        sorted(rows.map(({ bucketMs, dimensions, metrics }) => ({ bucketMs, metrics, dimensions }))),
      ).toEqual(sorted(counted(TAGS, asked)));
    }

    it.each([[['topic']], [['mood', 'topic']], [null], [['nothing']]])(
      'groups by %j, with and without what has no tag',
      async (names) => {
        for (const includesUntagged of [false, true]) {
          const tags = { grouping: grouping(names, includesUntagged) };
          await agrees(query(tags));
          await agrees(query(tags, { granularity: 'day', dimensions: ['model', 'app'] }));
          await agrees(query(tags, { accountId: 'account-1', granularity: 'hour' }));
        }
      },
    );

    it('filters by values, alone and together with groups', async () => {
      for (const operator of ['in', 'not_in'] as const) {
        for (const values of [['billing'], ['billing', HOSTILE], []]) {
          const filters = [{ dimension: 'topic', operator, values }];
          await agrees(query({ filters }));
          await agrees(query({ filters, grouping: grouping(['mood'], true) }, { dimensions: ['model'] }));
          await agrees(query({ filters, grouping: grouping(null) }));
          await agrees(
            query({
              filters: [...filters, { dimension: 'mood', operator: 'in', values: ['angry'] }],
              grouping: grouping(['topic']),
            }),
          );
        }
      }
    });

    it('orders by a tag and limits the rows of each combination', async () => {
      const tags = { grouping: grouping(['topic', 'mood']) };
      const { rows, totalRows } = await events.query(
        query(tags, { order: { field: 'tag1', direction: 'desc' }, limit: 3 }),
      );
      expect(rows.map(({ dimensions }) => dimensions[1])).toEqual(['calm', 'calm', 'angry']);
      expect(totalRows).toBe(4);
      const limited = await events.query(query(tags, { granularity: 'day', groupLimit: 1 }));
      expect(new Set(limited.rows.map(({ dimensions }) => String(dimensions))).size).toBe(
        limited.rows.length,
      );
      expect(limited.isTruncated).toBe(true);
    });

    it('removes tags with the events of their days, and adds none of before', async () => {
      const own = await open();
      const border = HISTORY_START_MS + 2 * DAY_MS;
      await own.events.append(HISTORY);
      await own.events.addTags(TAGS);
      await own.events.prune(border + 5);
      await own.events.addTags(TAGS);
      const left = TAGS.filter(({ createdAtMs }) => createdAtMs >= border);
      const asked = query({ grouping: grouping(null) }, { metrics: ['request_count'] });
      const { rows, missingBeforeMs } = await own.events.query(asked);
      expect(rows.reduce((sum, { metrics: [count] }) => sum + Number(count), 0)).toBe(left.length);
      expect(missingBeforeMs).toBe(border);
      await own.close();
    });
  });
}
