import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CONSOLE_FOLDER } from '../../../src/kit/program-files.ts';
import { noBrowserReason } from './chromium.ts';

/** Compressed script: of the first page, and of any other view beyond it. */
const FIRST_PAGE_BYTES = 120_000;
const VIEW_BYTES = 40_000;

const ASSETS = join(CONSOLE_FOLDER, 'assets');

/** Scripts that a script imports at once, itself included. */
function withImports(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = readFileSync(join(ASSETS, name), 'utf8');
  for (const [, imported] of text.matchAll(/(?:from|import)\s*["']\.\/([\w-]+\.js)["']/g)) {
    if (imported !== undefined) withImports(imported, seen);
  }
  return seen;
}

function bytesOf(names: Iterable<string>): number {
  return [...names].reduce((sum, name) => sum + gzipSync(readFileSync(join(ASSETS, name))).length, 0);
}

describe.skipIf(noBrowserReason !== undefined)('the scripts of the console', () => {
  const scripts = () => readdirSync(ASSETS).filter((name) => name.endsWith('.js'));
  const page = () => readFileSync(join(CONSOLE_FOLDER, 'index.html'), 'utf8');
  const entry = () => scripts().find((name) => page().includes(`/${name}"`)) ?? '';
  const overview = () => scripts().find((name) => name.startsWith('overview-')) ?? '';

  it(`have at most ${FIRST_PAGE_BYTES} compressed bytes on the first page`, () => {
    const first = new Set([...withImports(entry()), ...withImports(overview())]);
    expect(first.size).toBeGreaterThan(1);
    expect(bytesOf(first)).toBeLessThanOrEqual(FIRST_PAGE_BYTES);
  });

  it(`have at most ${VIEW_BYTES} more for any other view`, () => {
    const first = withImports(entry());
    const sizes = scripts()
      .filter((name) => !first.has(name))
      .map((name) => [name, bytesOf([...withImports(name)].filter((each) => !first.has(each)))] as const);
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.filter(([, bytes]) => bytes > VIEW_BYTES)).toEqual([]);
  });
});
