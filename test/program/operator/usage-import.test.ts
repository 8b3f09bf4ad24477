import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { importUsage } from '../../../src/cli/commands/usage-import.ts';
import { run } from '../../../src/cli/run.ts';
import { GatewayError } from '../../../src/ir/errors.ts';
import type { UsageLine } from '../../../src/manage/usage-import/usage-line.ts';
import type { DimensionName, Granularity, MetricName } from '../../../src/ports/events/event-names.ts';
import type { EventRow } from '../../../src/ports/events/events.ts';
import { makeDataDirectory, temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { runs } from '../../kit/builders/runs.ts';
import { USAGE_START_MS, usageHistory } from '../../kit/builders/usage-history.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';
import type { Ended } from '../../kit/program.ts';

const DAY_MS = 86_400_000;

let temporary: ReturnType<typeof temporaryDirectory>;
let dataDir: string;
let file: string;

beforeEach(() => {
  temporary = temporaryDirectory();
  dataDir = makeDataDirectory(join(temporary.path, 'data'));
  file = join(temporary.path, 'usage.ndjson');
  writeFileSync(join(temporary.path, 'signalbox.yaml'), '');
});

afterEach(() => temporary.remove());

/** Runs a command line in this process. */
async function typed(...words: string[]): Promise<Ended> {
  const text = { out: '', err: '' };
  const code = await run([...words, '--config', join(temporary.path, 'signalbox.yaml')], {
    out: (piece) => {
      text.out += piece;
    },
    err: (piece) => {
      text.err += piece;
    },
  });
  return { code: code ?? null, ...text };
}

const importFile = (...flags: string[]) => typed('usage', 'import', file, '--data-dir', dataDir, ...flags);

async function importJson(...flags: string[]) {
  const { code, out, err } = await importFile('--json', ...flags);
  return { code, err, view: JSON.parse(out) };
}

let lastId = 0;

function lineOf(members: object = {}): Record<string, unknown> {
  lastId += 1;
  return {
    generation_id: `gen-${lastId}`,
    created_at: '2026-01-31T12:00:00Z',
    model: 'acme/large',
    tokens_prompt: 100,
    tokens_completion: 20,
    ...members,
  };
}

function write(lines: readonly unknown[]): void {
  writeFileSync(
    file,
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  );
}

/** All events of the data directory; no process may have it open. */
async function counted(
  metrics: readonly MetricName[],
  dimensions: readonly DimensionName[] = [],
  granularity: Granularity | null = null,
): Promise<readonly EventRow[]> {
  const { eventStore, close } = await openInstallation({ dataDir, keyPrefix: 'sk-' });
  try {
    const { rows } = await eventStore.query({
      accountId: null,
      metrics,
      dimensions,
      granularity,
      startMs: Date.UTC(2020, 0),
      endMs: Date.UTC(2100, 0),
      filters: [],
      order: null,
      limit: 1_000_000,
      groupLimit: null,
    });
    return rows;
  } finally {
    await close();
  }
}

const requests = async () => (await counted(['request_count']))[0]?.metrics[0] ?? 0n;
const leftovers = () => (existsSync(join(dataDir, 'imports')) ? readdirSync(join(dataDir, 'imports')) : []);
const NOTHING_ELSE = { known: 0, too_old: 0, bad: 0, problems: [], notes: [] };

/** Lines of a long history. */
const MANY_LINES = runs(4_000, 40_000);

describe('many lines over 400 days', () => {
  it('are counted exactly, once', { timeout: 120_000 }, async () => {
    const lines = [...usageHistory(MANY_LINES, 400)];
    write(lines);
    expect(await importJson()).toEqual({
      code: 0,
      err: '',
      view: { lines: MANY_LINES, imported: MANY_LINES, ...NOTHING_ELSE },
    });
    write(lines.slice(0, MANY_LINES / 2));
    expect(await importJson()).toMatchObject({ code: 0, view: { imported: 0, known: MANY_LINES / 2 } });
    const names: MetricName[] = [
      'request_count',
      'tokens_prompt',
      'tokens_completion',
      'reasoning_tokens',
      'cached_tokens',
      'byok_request_count',
      'credits_usage',
      'byok_usage',
      'usage_upstream',
    ];
    const rows = await counted(names, ['model'], 'day');
    const found = new Map(
      rows.map(({ bucketMs, dimensions: [model], metrics }) => [`${bucketMs} ${model}`, metrics]),
    );
    expect(found).toEqual(sumsOf(lines, ({ created_at, model }) => `${dayOf(created_at)} ${model}`));
    const buckets = rows.map(({ bucketMs }) => bucketMs ?? 0);
    expect([Math.min(...buckets), new Set(buckets).size]).toEqual([USAGE_START_MS, 400]);
    const apps = await counted(names, ['app']);
    expect(new Map(apps.map(({ dimensions: [app], metrics }) => [`${app}`, metrics]))).toEqual(
      sumsOf(lines, ({ app }) => `${app?.referer?.replace(/^https:\/\/|\/$/g, '') ?? null}`),
    );
    expect(leftovers()).toEqual([]);
  });
});

function dayOf(moment: string): number {
  return Date.parse(`${moment.slice(0, 10)}T00:00:00Z`);
}

/** The metrics of the test above for each group of lines, worked out from the lines. */
function sumsOf(lines: readonly UsageLine[], groupOf: (line: UsageLine) => string): Map<string, bigint[]> {
  const sums = new Map<string, number[]>();
  for (const line of lines) {
    const nanos = Math.round((line.cost_usd ?? 0) * 1e9);
    const values = [
      1,
      line.tokens_prompt,
      line.tokens_completion,
      line.tokens_reasoning ?? 0,
      line.tokens_cached ?? 0,
      line.is_byok ? 1 : 0,
      line.is_byok ? 0 : nanos,
      line.is_byok ? nanos : 0,
      nanos,
    ];
    const group = groupOf(line);
    const before = sums.get(group);
    sums.set(
      group,
      before === undefined ? values : values.map((value, place) => value + (before[place] ?? 0)),
    );
  }
  // Whole numbers that are small enough: adding them up is exact.
  return new Map([...sums].map(([group, values]) => [group, values.map(BigInt)]));
}

describe('bad lines', () => {
  const BAD = [
    lineOf(),
    lineOf({ tokens_prompt: -1 }),
    '',
    '{"generation_id": ',
    lineOf({ api_key_hash: 'f'.repeat(64) }),
    lineOf({ workspace_id: 'nowhere' }),
    `"${'x'.repeat(1_048_576)}"`,
    lineOf(),
  ];

  it('are listed with their numbers, and nothing is imported', async () => {
    write(BAD);
    const { code, out, err } = await importFile();
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.split('\n')).toEqual([
      'line 2: tokens_prompt: must be >= 0',
      expect.stringMatching(/^line 4: not valid JSON/),
      'line 5: api_key_hash: no key has this hash; leave it out for a key that is gone',
      'line 6: workspace_id: no workspace has this id',
      'line 7: is longer than 1048576 bytes',
      'signalbox: nothing was imported: mend the file, or leave bad lines out with --skip-bad',
      '',
    ]);
    expect(await requests()).toBe(0n);
    expect(leftovers()).toEqual([]);
  });

  it('are left out on demand, and the rest is imported', async () => {
    write(BAD);
    const people = await importFile('--skip-bad');
    expect(people).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^line 2: .*\n.*\n.*\n.*\nline 7: .*\n$/),
    });
    expect(people.out).toBe('LINES  IMPORTED  KNOWN  TOO OLD  BAD\n7      2         0      0        5\n');
    expect(await requests()).toBe(2n);
    const again = await importJson('--skip-bad');
    expect(again).toMatchObject({ code: 0, err: '', view: { lines: 7, imported: 0, known: 2, bad: 5 } });
    expect(again.view.problems[0]).toEqual({ line: 2, path: 'tokens_prompt', message: 'must be >= 0' });
  });

  it('are counted if there are too many to list, also as JSON', async () => {
    write(Array.from({ length: 2_500 }, () => lineOf({ cost_usd: -1 })));
    expect((await importFile()).err).toContain('\nand 1500 more bad lines\n');
    const { code, view, err } = await importJson();
    expect(view).toMatchObject({ lines: 2_500, imported: 0, bad: 2_500 });
    expect({ code, told: view.problems.length }).toEqual({ code: 1, told: 1_000 });
    expect(err).toContain('line 1000: cost_usd: must be >= 0\n');
    expect((await importJson('--skip-bad')).code).toBe(0);
  });
});

describe('signalbox usage import', () => {
  it('takes a file as other systems write it, and one with nothing in it', async () => {
    writeFileSync(file, `\ufeff${JSON.stringify(lineOf())}\r\n\r\n${JSON.stringify(lineOf())}`);
    expect((await importJson()).view).toEqual({ lines: 2, imported: 2, ...NOTHING_ELSE });
    write([]);
    expect(await importJson()).toMatchObject({ code: 0, view: { lines: 0, imported: 0 } });
  });

  it('counts an id once, in one file or in two, at any time', async () => {
    const id = { generation_id: 'twice' };
    write([lineOf({ ...id, tokens_prompt: 1 }), lineOf(), lineOf({ ...id, tokens_prompt: 2 })]);
    expect((await importJson()).view).toMatchObject({ lines: 3, imported: 2, known: 1 });
    write([lineOf({ ...id, tokens_prompt: 4, created_at: '2024-05-05T05:05:05+05:00' })]);
    expect((await importJson()).view).toMatchObject({ lines: 1, imported: 0, known: 1 });
    expect((await counted(['tokens_prompt']))[0]?.metrics).toEqual([101n]);
  });

  it('leaves out usage from before the last pruning, and reports it', async () => {
    const prune = async () => {
      const { eventStore, close } = await openInstallation({ dataDir, keyPrefix: 'sk-' });
      const removed = await eventStore.prune(Date.UTC(2025, 5, 1));
      await close();
      return removed;
    };
    const old = lineOf({ created_at: '2025-05-31T23:59:59.999Z' });
    write([lineOf()]);
    await importFile();
    expect(await prune()).toBe(0);
    write([old]);
    expect((await importJson()).view.imported).toBe(1);
    expect(await prune()).toBe(1);
    write([old, lineOf({ created_at: '2025-06-01T00:00:00Z' })]);
    const { view } = await importJson();
    expect(view).toMatchObject({
      imported: 1,
      too_old: 1,
      notes: [expect.stringContaining('before the last pruning')],
    });
    expect(await requests()).toBe(3n);
  });

  it('reports members that are not stored', async () => {
    write([lineOf({ session_id: 's' }), lineOf({ session_id: 't', app: { referer: 'nowhere' } })]);
    const { code, out } = await importFile();
    expect(code).toBe(0);
    expect(out).toContain(
      '\nsession_id is not kept as it was written (2 lines): usage is not counted by session.\n',
    );
    expect(out).toContain('\napp.referer is not kept as it was written (1 line): ');
  });

  it('shows its progress on a terminal', async () => {
    write([lineOf()]);
    let shown = '';
    const output = { out: () => {}, err: (text: string) => (shown += text) };
    const wishes = { skipBad: false, account: undefined, asJson: false, showsProgress: true, output };
    expect(await importUsage({ config: join(temporary.path, 'signalbox.yaml'), dataDir }, file, wishes)).toBe(
      0,
    );
    expect(shown).toContain(`[${'#'.repeat(30)}] 100 %`);
    expect(shown.endsWith('\r\u001b[K')).toBe(true);
  });

  it('reports a file that cannot be read, and creates no database', async () => {
    expect(await importFile()).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^signalbox: \S+usage\.ndjson does not exist \(ENOENT\); .*\n$/),
    });
    mkdirSync(file);
    expect(await importFile()).toMatchObject({ code: 1, err: expect.stringContaining('is a directory') });
    expect(existsSync(join(dataDir, 'signalbox.sqlite'))).toBe(false);
  });

  it('needs an existing account', async () => {
    write([lineOf()]);
    expect(await importFile('--account', 'nobody')).toMatchObject({
      code: 1,
      err: 'signalbox: account: there is no account named nobody\n',
    });
  });
});

/** The folder that a killed process leaves; by default of a process that no longer exists. */
function leaveBehind(pid = spawnSync(process.execPath, ['--version']).pid): number {
  const place = join(dataDir, 'imports', `${pid}-abcDEF`);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'events.duckdb'), 'half');
  return pid;
}

describe('the folder of a killed import', () => {
  it('is removed by the next start; that of a running import is not', async () => {
    const pid = leaveBehind();
    leaveBehind(process.pid);
    const { usageImports, close } = await openInstallation({ dataDir, keyPrefix: 'sk-' });
    try {
      expect(leftovers()).toEqual([`${process.pid}-abcDEF`]);
      for (const name of [`${pid}-abcDEF`, '..', '../..', `../imports/${process.pid}-abcDEF`, '']) {
        await expect(usageImports.takeIn(name)).rejects.toThrow(GatewayError);
      }
      await expect(usageImports.takeIn(`${process.pid}-abcDEF`)).rejects.toThrow('cannot be read');
    } finally {
      await close();
    }
  });
});

describe('beside a running gateway', () => {
  let gateway: TestGateway;
  let management: Management;

  beforeEach(async () => {
    gateway = await openTestGateway();
    management = managementOf(gateway);
    dataDir = gateway.dataDir;
  });

  afterEach(() => gateway.close());

  const yesterday = new Date(Date.now() - DAY_MS).toISOString();
  const recent = (members: object) => lineOf({ created_at: yesterday, ...members });

  async function usageBy(dimension: string) {
    const { body } = await management.ask('POST', '/analytics/query', {
      metrics: ['request_count', 'tokens_total', 'credits_usage', 'byok_usage'],
      dimensions: [dimension],
    });
    return (body as any).data.data;
  }

  it('is seen at once in analytics, activity and rankings, and touches no limit and no balance', async () => {
    const hash = JSON.parse(
      (await typed('keys', 'create', '--name', 'n', '--json', '--data-dir', dataDir)).out,
    ).hash;
    await typed('credits', 'set', '5', '--data-dir', dataDir);
    leaveBehind();
    write([
      recent({
        api_key_hash: hash,
        user: 'jane',
        country: 'fr',
        cost_usd: 3,
        app: { referer: 'https://Shop.example:8080/buy', title: 'Shop', categories: ['game'] },
      }),
      recent({ cost_usd: 2, is_byok: true }),
    ]);
    expect(await importJson()).toEqual({
      code: 0,
      err: '',
      view: { lines: 2, imported: 2, ...NOTHING_ELSE },
    });
    expect(await usageBy('country')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ country: 'FR', request_count: 1, tokens_total: 120, credits_usage: 3 }),
        expect.objectContaining({ country: null, byok_usage: 2, credits_usage: 0 }),
      ]),
    );
    const activity = (await management.ask('GET', '/activity')).body as any;
    expect(activity.data).toHaveLength(1);
    expect(activity.data[0]).toMatchObject({
      model: 'acme/large',
      requests: 2,
      usage: 3,
      byok_usage_inference: 2,
    });
    const rankings = await (await gateway.fetch('/datasets/app-rankings')).json();
    expect((rankings as any).data).toEqual([
      expect.objectContaining({ rank: 1, app_name: 'Shop', total_tokens: '120', total_requests: 1 }),
    ]);
    expect((await typed('credits', 'show', '--data-dir', dataDir)).out).toBe('5.00\n');
    const [key] = JSON.parse((await typed('keys', 'list', '--json', '--data-dir', dataDir)).out).filter(
      (each: any) => each.hash === hash,
    );
    expect(key).toMatchObject({ usage: 0, byok_usage: 0 });
    expect(leftovers()).toEqual([]);
  });

  it('belongs to the account that is named, and then to no other', async () => {
    await typed('accounts', 'create', 'other', '--data-dir', dataDir);
    const foreign = JSON.parse(
      (await typed('keys', 'create', '--name', 'f', '--account', 'other', '--json', '--data-dir', dataDir))
        .out,
    );
    write([
      recent({ api_key_hash: foreign.hash }),
      recent({ workspace_id: foreign.workspace_id }),
      recent({}),
    ]);
    expect(await importFile('--account', 'default')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^line 1: api_key_hash: no key .*\nline 2: workspace_id: no workspace .*\n/),
    });
    expect((await importJson('--account', 'other')).view.imported).toBe(3);
    expect(await usageBy('country')).toEqual([]);
    expect((await importJson()).view).toMatchObject({ imported: 0, known: 3 });
  });
});
