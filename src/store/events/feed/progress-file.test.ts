import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/adapters/contracts/temporary-directory.ts';
import { ProgressFile } from './progress-file.ts';

const isText = (value: unknown): value is string => typeof value === 'string';

describe('ProgressFile', () => {
  let temporary: ReturnType<typeof temporaryDirectory>;
  let path: string;

  beforeEach(() => {
    temporary = temporaryDirectory();
    path = join(temporary.path, 'progress.json');
  });

  afterEach(() => temporary.remove());

  it('has what was written last, also when much was written at once', async () => {
    const file = new ProgressFile(path, isText);
    expect(file.read()).toBeUndefined();
    await Promise.all(Array.from({ length: 20 }, (_, index) => file.write('x'.repeat(40 - index))));
    expect(new ProgressFile(path, isText).read()).toBe('x'.repeat(21));
    expect(readdirSync(temporary.path)).toEqual(['progress.json']);
  });

  it.each(['', '{"cut', '17'])('counts as absent when it has %j', (content) => {
    writeFileSync(path, content);
    expect(new ProgressFile(path, isText).read()).toBeUndefined();
  });

  it('goes on after a write that failed', async () => {
    const file = new ProgressFile(join(path, 'below'), isText);
    await expect(file.write('one')).rejects.toThrow('ENOENT');
    await expect(file.write('two')).rejects.toThrow('ENOENT');
  });
});
