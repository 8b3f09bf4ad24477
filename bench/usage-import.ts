import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { importUsage } from '../src/cli/commands/usage-import.ts';
import { usageHistory } from '../test/kit/builders/usage-history.ts';

/**
 * How long a file of usage takes to be imported into a new data directory, and once more when all of it is known.
 * `node scripts/bench.mjs usage-import [MILLIONS [DIRECTORY]]`: the directory says which disk is measured.
 */

const DAYS = 400;
const MILLION = 1_000_000;

const count = Number(process.argv[2] ?? 1) * MILLION;
const directory = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'signalbox-bench-'));
const file = join(directory, 'usage.ndjson');

try {
  await writeHistory();
  console.log(`${count} lines, ${(statSync(file).size / MILLION).toFixed(0)} MB`);
  for (const what of ['new', 'known']) console.log(`${what}: ${await timeOf()}`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function writeHistory(): Promise<void> {
  const out = createWriteStream(file);
  let text = '';
  for (const line of usageHistory(count, DAYS)) {
    text += `${JSON.stringify(line)}\n`;
    if (text.length < MILLION) continue;
    if (!out.write(text)) await once(out, 'drain');
    text = '';
  }
  out.end(text);
  await finished(out);
}

async function timeOf(): Promise<string> {
  const begin = performance.now();
  const cpu = process.cpuUsage();
  let told = '';
  await importUsage({ dataDir: join(directory, 'data') }, file, {
    skipBad: false,
    account: undefined,
    asJson: true,
    output: {
      out: (text) => {
        told += text;
      },
      err: (text) => process.stderr.write(text),
    },
  });
  const seconds = (performance.now() - begin) / 1000;
  const { imported, known } = JSON.parse(told) as { imported: number; known: number };
  const { user, system } = process.cpuUsage(cpu);
  const work = ((user + system) / MILLION).toFixed(1);
  const memory = (process.memoryUsage().rss / MILLION).toFixed(0);
  return `${seconds.toFixed(1)} s, ${Math.round(count / seconds)} lines/s, ${work} s of work, ${imported} imported, ${known} known, ${memory} MB of memory`;
}
