import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfiguration } from '../../../src/config/load.ts';
import { loadOptions } from '../../../src/settings/load-options.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'signalbox-presets-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function problemsOf(text: string): string[] {
  writeFileSync(join(cwd, 'signalbox.yaml'), text);
  const loading = loadConfiguration({ ...loadOptions({}), env: {}, cwd });
  return loading.ok ? [] : loading.problems.map(({ path, message }) => `${path}: ${message}`);
}

it('refuses a configuration with a preset that no request could use', () => {
  expect(problemsOf('presets: { a: { temperature: 0.5 }, b: { temperature: 9, colour: red } }')).toEqual([
    'presets.b.colour: is not a field that a preset can have',
  ]);
  expect(problemsOf('presets: { a: { max_tokens: -1 } }')).toEqual(['presets.a.max_tokens: must be >= 1']);
  expect(problemsOf('presets: { "a/b": {} }')).toHaveLength(1);
});

it('takes a valid preset', () => {
  expect(problemsOf('presets: { a: { model: x/y, system_prompt: Hi, seed: 3 } }')).toEqual([]);
});
