import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { doctorReport } from './doctor-report.ts';

const GENERATIONS = 20;

let gateway: TestGateway;
/** The data directory as kill -9 would have left it after some work. */
let killed: ReturnType<typeof temporaryDirectory>;
let temporary: ReturnType<typeof temporaryDirectory>;
let dataDir: string;

beforeAll(async () => {
  killed = temporaryDirectory();
  gateway = await openTestGateway();
  for (let count = 0; count < GENERATIONS; count += 1) {
    const answer = await gateway.post('/chat/completions', {
      model: 'simulator/standard',
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(answer.status).toBe(200);
    await answer.json();
  }
  for (const content of ['one', 'two', 'three']) {
    const form = new FormData();
    form.append('file', new Blob([content]), 'notes.txt');
    expect((await gateway.fetch('/files', { method: 'POST', body: form })).status).toBe(200);
  }
  await vi.waitFor(
    async () => {
      const report = await doctorReport(gateway.configFile, gateway.dataDir);
      expect(report.of('events')[0]?.figures.events).toBe(GENERATIONS);
      expect(
        report.of('server').find(({ figures }) => 'generations_lag' in figures)?.figures.generations_lag,
      ).toBe(0);
    },
    { timeout: 10_000, interval: 100 },
  );
  cpSync(gateway.dataDir, killed.path, { recursive: true, filter: (path) => !path.endsWith('.sock') });
});

afterAll(async () => {
  await gateway.close();
  killed.remove();
});

beforeEach(() => {
  vi.stubEnv('PORT', '0');
  temporary = temporaryDirectory();
  dataDir = join(temporary.path, 'data');
  cpSync(killed.path, dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
});

afterEach(() => {
  vi.unstubAllEnvs();
  temporary.remove();
});

const doctor = () => doctorReport(join(dataDir, 'signalbox.yaml'), dataDir);

const changeDatabase = (sql: string) => {
  const database = new Database(join(dataDir, 'signalbox.sqlite'));
  database.exec(sql);
  database.close();
};

/** Truncates the newest segment of the journal to a share of its length. */
function cutJournal(share: number): void {
  const names = readdirSync(join(dataDir, 'journal')).filter((name) => name.endsWith('.journal'));
  const segment = join(dataDir, 'journal', names.sort().at(-1) ?? '');
  truncateSync(segment, Math.floor(statSync(segment).size * share));
}

it('finds no problem after a process was killed', async () => {
  const report = await doctor();
  expect(report.findings.filter(({ verdict }) => verdict === 'problem')).toEqual([]);
  expect(report.of('ledger').every(({ verdict }) => verdict === 'ok')).toBe(true);
  expect(report.of('events')).toMatchObject([{ verdict: 'ok' }]);
  expect(report.of('files')).toMatchObject([
    { verdict: 'ok', figures: { files: 3, without_content: 0, contents_without_file: 0 } },
  ]);
});

describe('a journal', () => {
  it('whose end is lost is detected by the rows of generations', async () => {
    cutJournal(0.5);
    const report = await doctor();
    expect(report.code).toBe(1);
    const [lost, ...others] = report.of('ledger');
    expect(lost).toMatchObject({
      verdict: 'problem',
      what: expect.stringMatching(
        /^the database has \d+ generations of which the journal has no record, settled from \S+Z to \S+Z for \d+\.\d+ USD$/,
      ),
      mend: expect.stringMatching(/backup.*clock was set back/),
    });
    expect(lost?.figures.unrecorded_generations).toBeGreaterThan(GENERATIONS / 4);
    expect(lost?.figures.unrecorded_generations).toBeLessThan(GENERATIONS);
    expect(JSON.stringify(others)).not.toContain('no caller has an answer');
  });

  it('that is complete stays ok while rows are pruned or not made yet', async () => {
    changeDatabase('delete from generations where rowid % 3 = 0');
    const ledger = (await doctor()).of('ledger');
    expect(ledger.every(({ verdict }) => verdict === 'ok')).toBe(true);
  });

  it('stays ok after the clock was set back', async () => {
    const ahead = 'update generations set settled_at_ms = settled_at_ms + 86400000';
    changeDatabase(`${ahead} where rowid <= 5`);
    expect((await doctor()).of('ledger')).toMatchObject([{ verdict: 'ok' }]);
  });

  it('stays ok if its snapshot covers generations settled before its oldest record', async () => {
    for (let start = 0; start < 2; start += 1) {
      const installation = await openInstallation({ dataDir, keyPrefix: 'sk-' });
      await installation.close();
    }
    const report = await doctor();
    expect(report.of('ledger')).toMatchObject([{ verdict: 'ok' }]);
    expect(report.of('clocks').filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
  });
});

describe('stored files', () => {
  const contents = () => readdirSync(join(dataDir, 'files'));
  const pathOf = (id = '') => join(dataDir, 'files', id);

  it('without their content are counted and named', async () => {
    const [first = '', second = ''] = contents();
    rmSync(pathOf(first));
    truncateSync(pathOf(second), 1);
    const report = await doctor();
    expect(report.code).toBe(1);
    expect(report.of('files')).toMatchObject([
      {
        verdict: 'problem',
        what: expect.stringMatching(/^2 of 3 stored files have no content, .*file_/),
        mend: expect.stringContaining('backup'),
        figures: { files: 3, without_content: 1, cut_contents: 1 },
      },
    ]);
    expect(report.of('files')[0]?.what).toContain(first);
  });

  it('are all without content if their directory was deleted', async () => {
    rmSync(pathOf(), { recursive: true });
    expect((await doctor()).of('files')).toMatchObject([
      { verdict: 'problem', figures: { files: 3, without_content: 3 } },
    ]);
  });

  it('that were deleted leave content, which is reported as ok', async () => {
    changeDatabase('delete from files where rowid = 1');
    const report = await doctor();
    expect(report.of('files')).toMatchObject([
      {
        verdict: 'ok',
        what: expect.stringContaining('within an hour'),
        figures: { contents_without_file: 1 },
      },
    ]);
  });
});

describe('events', () => {
  const file = () => join(dataDir, 'events.duckdb');
  const remove = (...names: string[]) => {
    for (const name of names) rmSync(join(dataDir, name), { force: true });
  };

  it('whose file was deleted are a problem', async () => {
    remove('events.duckdb', 'events.duckdb.wal');
    const report = await doctor();
    expect(report.code).toBe(1);
    expect(report.of('events')).toMatchObject([
      {
        verdict: 'problem',
        what: `${file()} is missing, although it held events`,
        mend: expect.stringMatching(/stored rows of generations and imports.*are lost$/),
      },
    ]);
  });

  it('whose file was deleted under a running gateway are a problem', async () => {
    const running = await openTestGateway();
    try {
      const report = () => doctorReport(running.configFile, running.dataDir);
      expect((await report()).of('events')).toMatchObject([{ verdict: 'ok' }]);
      rmSync(join(running.dataDir, 'events.duckdb'));
      expect((await report()).of('events')[1]).toMatchObject({
        verdict: 'problem',
        what: expect.stringContaining('was deleted while the gateway has it open'),
      });
    } finally {
      await running.close();
    }
  });

  it('without progress files are missed because of the rows', async () => {
    remove('events.duckdb', 'events.duckdb.wal', 'events-fed.json');
    expect((await doctor()).of('events')).toMatchObject([
      { verdict: 'warning', mend: expect.stringContaining('import it again') },
    ]);
    changeDatabase('delete from generations');
    expect((await doctor()).of('events')).toMatchObject([{ verdict: 'ok', what: 'none yet' }]);
  });

  it.each([
    ['it is empty', () => writeFileSync(file(), '')],
    ['it is not a DuckDB file', () => writeFileSync(file(), 'garbage '.repeat(2000))],
    ['its end is missing', () => truncateSync(file(), 100)],
  ])('that cannot be read are reported with the reason: %s', async (reason, damage) => {
    remove('events.duckdb.wal');
    damage();
    const bytes = statSync(file()).size;
    const report = await doctor();
    expect(report.code).toBe(1);
    expect(report.of('events')).toMatchObject([
      {
        verdict: 'problem',
        what: `the events in ${file()} cannot be read: ${reason}`,
        mend: expect.stringMatching(/are lost$/),
      },
    ]);
    expect(statSync(file()).size).toBe(bytes);
  });
});

describe('the key of the hashes', () => {
  it('that is missing is a problem, and is not made', async () => {
    rmSync(join(dataDir, 'hash-key'));
    const report = await doctor();
    expect(report.code).toBe(1);
    expect(report.of('secrets')[0]).toMatchObject({
      verdict: 'problem',
      what: expect.stringContaining('hash-key is missing, although a gateway has run here'),
      mend: expect.stringContaining('end users'),
    });
    expect(existsSync(join(dataDir, 'hash-key'))).toBe(false);
  });
});
