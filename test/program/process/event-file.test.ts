import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EventQuery } from '../../../src/ports/events/events.ts';
import {
  EventBundleUnreadable,
  openEventBundle,
} from '../../../src/store/events/duckdb/bundle/event-bundle.ts';
import { DuckdbEventStore } from '../../../src/store/events/duckdb/event-store.ts';
import { DatabaseUnavailable } from '../../../src/store/sql/database-unavailable.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { eventHistory, HISTORY_START_MS } from '../../kit/builders/event-history.ts';
import { killHard } from '../../kit/program.ts';

const BATCH = 2_000;
const DAY_MS = 86_400_000;
/** Beneath the project: the child finds what it depends on from there. */
const OUT = fileURLToPath(
  new URL(`../../../node_modules/.signalbox-event-file-${process.pid}`, import.meta.url),
);

/** Appends batch after batch and says what became of each. */
const APPENDER = `
  import { DuckdbEventStore, eventHistory } from ${JSON.stringify(join(OUT, 'event-appender.js'))};
  const [file] = process.argv.slice(1);
  const events = new DuckdbEventStore(file);
  for (let from = 0; ; from += ${BATCH}) {
    for (;;) {
      const batch = [...eventHistory(${BATCH}, 3, from)];
      const appended = await events.append(batch).catch((error) => error);
      if (!(appended instanceof Error)) break;
      console.log('failed', appended.name, String(appended.cause?.message).replaceAll('\\n', ' '));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    console.log('appended');
  }
`;

interface Appending {
  readonly process: ChildProcess;
  /** Resolves with the next line that it prints. */
  next(): Promise<string>;
}

const everything: EventQuery = {
  accountId: null,
  metrics: ['request_count'],
  dimensions: [],
  granularity: null,
  startMs: HISTORY_START_MS,
  endMs: HISTORY_START_MS + 3 * DAY_MS,
  filters: [],
  order: null,
  limit: 1,
  groupLimit: null,
};

let directory: ReturnType<typeof temporaryDirectory>;
let file: string;
let warnings: string[];
let renewed: number;

beforeEach(() => {
  directory = temporaryDirectory();
  file = join(directory.path, 'events.duckdb');
  warnings = [];
  renewed = 0;
});

afterEach(() => directory.remove());

function open(): DuckdbEventStore {
  return new DuckdbEventStore(file, {
    warn: (message) => warnings.push(message),
    onFileCreated: () => {
      renewed += 1;
    },
  });
}

/** How many events there are, by themselves and by their sums. */
async function counted(events: DuckdbEventStore): Promise<readonly number[]> {
  const { rows } = await events.query(everything);
  return [(await events.sizes()).events, Number(rows[0]?.metrics[0] ?? 0)];
}

describe('a file that cannot be read', () => {
  const history = [...eventHistory(500, 3)];

  async function renews(): Promise<void> {
    const events = open();
    await expect(events.append(history)).rejects.toThrow(DatabaseUnavailable);
    expect(await events.append(history)).toEqual({ added: 500, known: 0, tooOld: 0 });
    expect(readdirSync(directory.path).some((name) => name.startsWith('events.duckdb.damaged-'))).toBe(true);
    expect([warnings.length, renewed]).toEqual([1, 1]);
    expect(warnings[0]).toContain('events.duckdb.damaged-');
    expect(await counted(events)).toEqual([500, 500]);
    await events.close();
  }

  it('is put aside if it is not a DuckDB file', async () => {
    writeFileSync(file, 'something else '.repeat(10_000));
    await renews();
  });

  it('is put aside when it is cut', async () => {
    const before = new DuckdbEventStore(file);
    await before.append(history);
    await before.close();
    truncateSync(file, 9_000);
    await renews();
  });

  it('is put aside if a later version of DuckDB wrote it', async () => {
    const before = new DuckdbEventStore(file);
    await before.append(history);
    await before.close();
    const bytes = readFileSync(file);
    // After the checksum of the first block and the word DUCK.
    bytes.writeBigUInt64LE(9_999n, 12);
    writeFileSync(file, bytes);
    await renews();
  });

  it('is put aside together with its log', async () => {
    writeFileSync(file, 'x'.repeat(50_000));
    writeFileSync(`${file}.wal`, 'y');
    await renews();
    const aside = readdirSync(directory.path).filter((name) => name.includes('.damaged-'));
    expect(aside.map((name) => name.endsWith('.wal')).toSorted()).toEqual([false, true]);
  });

  it('is distinguished from one that does not exist yet', async () => {
    const events = open();
    await events.append(history);
    expect([warnings.length, renewed]).toEqual([0, 1]);
    await events.close();
    const again = open();
    expect(await counted(again)).toEqual([500, 500]);
    expect(renewed).toBe(1);
    await again.close();
  });

  it('is kept if a bundle cannot be read', async () => {
    const events = open();
    await events.append(history.slice(0, 100));
    const bundle = join(directory.path, 'bundle.duckdb');
    writeFileSync(bundle, 'no bundle '.repeat(10_000));
    await expect(events.addBundle({ file: bundle })).rejects.toThrow(EventBundleUnreadable);
    await expect(events.addBundle({ file: join(directory.path, 'none') })).rejects.toThrow();
    const given = openEventBundle(join(directory.path, 'given-up.duckdb'));
    await given.add(history);
    await given.discard();
    expect(existsSync(join(directory.path, 'given-up.duckdb'))).toBe(false);
    const whole = join(directory.path, 'whole.duckdb');
    const writer = openEventBundle(whole);
    await writer.add(history);
    await writer.close();
    expect(await events.addBundle({ file: whole })).toEqual({ added: 400, known: 100, tooOld: 0 });
    expect(warnings).toEqual([]);
    await events.close();
  });
});

describe('another process', () => {
  let child: ChildProcess | undefined;

  beforeAll(async () => {
    await build({
      configFile: false,
      logLevel: 'error',
      build: {
        ssr: true,
        rollupOptions: {
          // With the program of the thread, which starts from a file beside.
          input: [
            '../faults/event-appender.ts',
            '../../../src/store/events/duckdb/driver/duckdb-thread-main.ts',
          ].map((name) => fileURLToPath(new URL(name, import.meta.url))),
        },
        outDir: OUT,
        emptyOutDir: true,
      },
    });
  });

  afterEach(() => {
    child?.kill('SIGKILL');
    child = undefined;
  });

  afterAll(() => rmSync(OUT, { recursive: true, force: true }));

  /** Starts a process that appends, with so many blocks as the most that a file may have. */
  function appending(fileBlocks: number | undefined): Appending {
    const limit = fileBlocks === undefined ? '' : `ulimit -S -f ${fileBlocks};`;
    const node = [process.execPath, '--input-type=module', '-e', APPENDER, file];
    const started = spawn('sh', ['-c', `${limit} exec "$@"`, 'sh', ...node], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = started;
    const lines: string[] = [];
    started.stdout.setEncoding('utf8').on('data', (text: string) => {
      lines.push(...text.split('\n').filter((line) => line !== ''));
    });
    const next = async () => {
      while (lines.length === 0) {
        if (started.exitCode !== null) throw new Error(`the process ended with ${started.exitCode}`);
        await delay(5);
      }
      return lines.shift() ?? '';
    };
    return { process: started, next };
  }

  it('is waited for while it has the file, and leaves all or none of a batch if it is killed', async () => {
    const { process: appender, next } = appending(undefined);
    let said = 0;
    for (; said < 3; said++) expect(await next()).toBe('appended');
    const waiting = open();
    await expect(waiting.sizes()).rejects.toThrow(DatabaseUnavailable);
    await killHard(appender);
    const [found = 0, summed] = await counted(waiting);
    expect(found % BATCH).toBe(0);
    expect(found).toBeGreaterThanOrEqual(said * BATCH);
    expect(summed).toBe(found);
    const again = [...eventHistory(BATCH, 3, 0), ...eventHistory(BATCH, 3, BATCH)];
    expect(await waiting.append(again)).toEqual({ added: 0, known: 2 * BATCH, tooOld: 0 });
    expect([warnings, renewed]).toEqual([[], 0]);
    await waiting.close();
  });

  const canLift = spawnSync('prlimit', ['--version']).status === 0;

  it.skipIf(!canLift)(
    'counts nothing of what finds no room, and goes on when there is some',
    async () => {
      const { process: appender, next } = appending(1_500);
      let said = 0;
      for (;;) {
        const line = await next();
        if (line !== 'appended') {
          expect(line).toContain('failed GatewayError');
          break;
        }
        said += 1;
      }
      spawnSync('prlimit', ['--pid', String(appender.pid), '--fsize=unlimited']);
      for (let more = 0; more < 3; ) if ((await next()) === 'appended') more += 1;
      await killHard(appender);
      const events = open();
      const [found = 0, summed] = await counted(events);
      expect(found % BATCH).toBe(0);
      expect(found).toBeGreaterThanOrEqual((said + 3) * BATCH);
      expect(summed).toBe(found);
      expect([warnings, renewed]).toEqual([[], 0]);
      await events.close();
    },
    30_000,
  );
});
