import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../adapters/contracts/temporary-directory.ts';
import { signalbox } from '../../../kit/program.ts';
import { postgresForTests } from '../../../kit/servers/postgres-server.ts';
import { type StartedProgram, startProgram, stopped } from '../../../kit/started-program.ts';

const MANAGEMENT_KEY = 'management-key-of-this-test';
/** More than one slice. */
const LINES = 4_500;
const LAST_MONTH = new Date(Date.now() - 20 * 86_400_000).toISOString();

const RANGE = {
  start: new Date(Date.now() - 25 * 86_400_000).toISOString(),
  end: new Date().toISOString(),
};

let temporary: ReturnType<typeof temporaryDirectory>;
let programs: StartedProgram[];

beforeEach(() => {
  temporary = temporaryDirectory();
  programs = [];
  writeFileSync(join(temporary.path, 'usage.ndjson'), linesOf(LINES));
});

afterEach(async () => {
  await Promise.all(programs.map(({ child }) => stopped(child, 'SIGKILL')));
  temporary.remove();
});

function linesOf(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => ({
    generation_id: `imported-${index}`,
    created_at: LAST_MONTH,
    model: 'acme/large',
    tokens_prompt: 100,
    tokens_completion: 20,
    cost_usd: 0.25,
  }));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

const environment = (directory: string, more: Record<string, string> = {}) => ({
  SIGNALBOX_DATA_DIR: join(temporary.path, directory),
  SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
  ...more,
});

async function start(directory: string, more?: Record<string, string>): Promise<StartedProgram> {
  const program = await startProgram(temporary.path, environment(directory, more));
  programs.push(program);
  return program;
}

function importFile(directory: string, more?: Record<string, string>): void {
  const { code, err } = signalbox(
    temporary.path,
    ['usage', 'import', 'usage.ndjson'],
    environment(directory, more),
  );
  expect({ code, err }).toMatchObject({ code: 0 });
}

const HEADERS = { Authorization: `Bearer ${MANAGEMENT_KEY}`, 'Content-Type': 'application/json' };

/** Requests and cost of all events, and the warnings of the answer. */
async function usage({ url }: StartedProgram) {
  const reply = await fetch(`${url}/analytics/query`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ metrics: ['request_count', 'total_usage'], time_range: RANGE }),
  });
  const { data } = (await reply.json()) as {
    data: { data: readonly Record<string, unknown>[]; warnings?: readonly string[] };
  };
  const [row] = data.data;
  return {
    requests: Number(row?.request_count ?? 0),
    usd: Number(row?.total_usage ?? 0),
    warnings: data.warnings ?? [],
    header: reply.headers.get('x-analytics-warning'),
  };
}

const ALL = { requests: LINES, usd: LINES * 0.25, warnings: [], header: null };

describe('imported usage', () => {
  it('comes back after the events were lost; answers carry a warning until then', async () => {
    importFile('data');
    const first = await start('data');
    await expect.poll(() => usage(first)).toEqual(ALL);
    await stopped(first.child, 'SIGTERM');
    const dataDir = join(temporary.path, 'data');
    for (const name of readdirSync(dataDir)) {
      if (name.startsWith('events.duckdb')) rmSync(join(dataDir, name));
    }
    const second = await start('data');
    expect(await usage(second)).toMatchObject({
      requests: 0,
      warnings: [expect.stringContaining('events are being filled again')],
      header: expect.stringContaining('events are being filled again'),
    });
    const activity = await fetch(`${second.url}/activity`, { headers: HEADERS });
    expect(activity.headers.get('x-analytics-warning')).toContain('events are being filled again');
    await expect.poll(() => usage(second)).toEqual(ALL);
    // A file that is imported again adds nothing, and the kept slices stay the same.
    importFile('data');
    expect(await usage(second)).toEqual(ALL);
  }, 60_000);
});

const server = await postgresForTests();

describe.skipIf(server === undefined)('imported usage of gateways that share PostgreSQL', () => {
  it('is in the analytics of the others too', async () => {
    const shared = { DATABASE_URL: (await server?.createDatabase()) ?? '' };
    const one = await start('one', shared);
    const other = await start('other', shared);
    importFile('one', shared);
    expect(await usage(one)).toEqual(ALL);
    await expect.poll(() => usage(other)).toEqual(ALL);
  }, 60_000);
});
