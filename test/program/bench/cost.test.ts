import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type Costs,
  type CostTable,
  changesOf,
  changesText,
  rounded,
} from '../../../bench/cost/cost-table.ts';
import { measureCosts } from '../../../bench/cost/measure-costs.ts';
import { pageWithCosts, readCosts, whyNotCompared } from '../../../bench/cost/stored-costs.ts';
import { parseSummary } from '../../../bench/cost/system-calls.ts';

const COSTS: Costs = {
  heapKb: 200,
  promises: 165,
  timers: 5,
  poolCalls: 3,
  reads: 5,
  writes: 3,
  syncs: 1,
  journalRecords: 2,
  journalBytes: 3000,
  statements: 1.4,
  threadMessages: 0.2,
  processMessages: 0,
  systemCalls: { read: 5, write: 3 },
};

type Changed = { [Name in keyof Costs]?: Costs[Name] | undefined };

const changes = (now: Changed) =>
  changesOf({ relay: COSTS }, { relay: { ...COSTS, ...now } as Costs }).map(
    ({ counter, before, now }) => `${counter}: ${before} to ${now}`,
  );

describe('the comparison of costs', () => {
  it('allows what a window may differ by', () => {
    expect(changes({})).toEqual([]);
    expect(changes({ heapKb: 201.9, journalBytes: 3080, statements: 1.43 })).toEqual([]);
    expect(changes({ statements: 1.5, threadMessages: 0.3 })).toEqual([]);
  });

  it.each<[Changed, string]>([
    [{ promises: 166 }, 'promises: 165 to 166'],
    [{ timers: 6 }, 'timers: 5 to 6'],
    [{ heapKb: 207 }, 'heap, KB: 200 to 207'],
    [{ heapKb: 190 }, 'heap, KB: 200 to 190'],
    [{ poolCalls: 4 }, 'pool calls: 3 to 4'],
    [{ journalRecords: 3 }, 'journal records: 2 to 3'],
    [{ journalBytes: 3100 }, 'journal bytes: 3000 to 3100'],
    [{ statements: 2.4 }, 'statements: 1.4 to 2.4'],
    [{ processMessages: 1 }, 'messages to processes: 0 to 1'],
    [{ journalRecords: undefined }, 'journal records: 2 to undefined'],
    [{ systemCalls: { read: 5, write: 3, openat: 1 } }, 'system calls openat: 0 to 1'],
    [{ systemCalls: { read: 5 } }, 'system calls write: 3 to 0'],
  ])('finds %j', (now, change) => {
    expect(changes(now)).toEqual([change]);
  });

  it('leaves out system calls where they cannot be counted', () => {
    expect(changes({ systemCalls: undefined })).toEqual([]);
  });

  it('finds a case that one side lacks', () => {
    expect(changesText(changesOf({}, { relay: COSTS }))).toContain(
      'relay: heap, KB is 200, and the table has no',
    );
    expect(changesText(changesOf({ relay: COSTS }, {}))).toContain(
      'relay: heap, KB was 200 and is no longer',
    );
  });

  it('says what to do about a rise and about a fall', () => {
    const text = (now: Partial<Costs>) =>
      changesText(changesOf({ relay: COSTS }, { relay: { ...COSTS, ...now } as Costs }));
    expect(text({ promises: 170 })).toMatch(
      /^relay: promises rose from 165 to 170 a request\n.*say why in the commit/,
    );
    expect(text({ promises: 60 })).toMatch(
      /^relay: promises fell \(good\) from 165 to 60 a request\nWrite the table/,
    );
  });

  it('keeps of a window what each request has', () => {
    const { promises, heapKb, statements } = rounded({
      ...COSTS,
      promises: 165.8,
      heapKb: 217.3149,
      statements: 1.4,
    });
    expect({ promises, heapKb, statements }).toEqual({ promises: 165, heapKb: 217.31, statements: 1.4 });
  });

  it('stands on the page on performance as it is stored', () => {
    const page = readFileSync('docs/performance.md', 'utf8');
    expect(page).toMatch(/^\| worker, stream \| \d+ \| /m);
    expect(pageWithCosts()).toBe(page);
  });

  it('reads summaries of strace', () => {
    const summary = [
      '% time     seconds  usecs/call     calls    errors syscall',
      '------ ----------- ----------- --------- --------- ----------------',
      ' 60.00    0.001000          10       100           write',
      ' 40.00    0.000600           6       105         2 read',
      '100.00    0.001600           7       205         2 total',
    ].join('\n');
    expect(parseSummary(summary)).toEqual({ write: 100, read: 105 });
  });
});

/** Under `npx vitest` there may be no build of the program. */
const isBuilt = process.env.SIGNALBOX_COMPILED !== undefined;

/** Twenty processes for each core made it take four minutes. */
const LIMIT_MS = 900_000;

describe('a request', () => {
  it('costs what the table says', { timeout: LIMIT_MS }, async (test) => {
    const reason = isBuilt ? whyNotCompared() : 'only `npm test` builds what is measured';
    if (reason !== undefined) {
      console.error(reason);
      test.skip();
    }
    const measured: CostTable = await measureCosts();
    const found = changesOf(readCosts() ?? {}, measured);
    expect(found.length === 0 ? '' : `\n${changesText(found)}\n`).toBe('');
  });
});
