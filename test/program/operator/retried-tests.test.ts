import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

/** Fails once as a law of fast-check does: its error has the seed, and its cause a long text and the verdict. */
const FILE = `
let tries = 0;
it('is a law', () => {
  tries += 1;
  if (tries > 1) return;
  const cause = new Error('{"story":"' + 'x'.repeat(100_000) + '"}: expected 1 to be 2');
  throw new Error('Property failed after 3 tests\\n{ seed: 7, path: "2" }', { cause });
});
it('passes', () => {});
`;

it('a test that passes when tried again is named, with what its law expected', () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-retried-'));
  writeFileSync(join(folder, 'law.test.js'), FILE);
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--root', folder, '--globals', '--retry', '1'],
      ...['--reporter', join(ROOT, 'scripts/retried-tests.mjs')],
    ],
    { cwd: folder, encoding: 'utf8' },
  );
  rmSync(folder, { recursive: true });
  expect(status, stderr).toBe(0);
  const [title, name, message, cause = '', ...rest] = stderr.trim().split('\n');
  expect(title).toBe('signalbox: passed at the second try only, to be mended:');
  expect(name).toBe('  law.test.js: is a law');
  expect(message).toBe('    Property failed after 3 tests { seed: 7, path: "2" }');
  expect(cause).toMatch(/^ {4}caused by: \{"story":"xxx.* … x.*xxx"\}: expected 1 to be 2$/);
  expect(cause.length).toBeLessThan(2_100);
  expect(rest).toEqual([]);
});
