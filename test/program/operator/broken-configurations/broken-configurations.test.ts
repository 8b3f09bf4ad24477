import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { run } from '../../../../src/cli/run.ts';
import { loadConfigurationInThread, requireConfiguration } from '../../../../src/config/load.ts';
import { problemsText } from '../../../../src/config/problem.ts';
import { loadOptions } from '../../../../src/settings/load-options.ts';
import { temporaryDirectory } from '../../../adapters/contracts/temporary-directory.ts';
import { BROKEN, manyMistakes, UNREADABLE } from './cases.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
let file = '';

beforeAll(() => {
  temporary = temporaryDirectory();
  file = join(temporary.path, 'signalbox.yaml');
  // A key of the environment would be the missing credential.
  vi.stubEnv('OPENAI_API_KEY', '');
});

afterAll(() => {
  vi.unstubAllEnvs();
  temporary.remove();
});

/** What `check-config` prints on stderr for a file of this text. */
async function checked(
  text: string | Buffer,
): Promise<{ readonly code: number | undefined; readonly err: string }> {
  writeFileSync(file, text);
  let err = '';
  const code = await run(['check-config', file], {
    out: () => {},
    err: (written) => {
      err += written;
    },
  });
  return { code, err: err.replaceAll(file, 'signalbox.yaml') };
}

/** Every how many cases the other ways to read a file are tried: they cost a thread each. */
const SAMPLE = 8;

describe('broken configurations', () => {
  it('are explained as the kept text says, each with its place, one problem for a mistake', async () => {
    const pages: string[] = [];
    for (const [what, text] of [...BROKEN, ...UNREADABLE]) {
      const { code, err } = await checked(text);
      const heads = err.split('\n').filter((line) => /^\S/.test(line));
      const places = err.split('\n').filter((line) => line.includes('--> signalbox.yaml'));
      const mistakes = what.startsWith('three') ? 3 : 1;
      expect({ what, code, heads: heads.length, places: places.length }).toEqual({
        what,
        code: what.startsWith('warning') ? 0 : 1,
        heads: mistakes,
        places: mistakes,
      });
      pages.push(`##### ${what}\n${err.replaceAll(temporary.path, '/etc/signalbox')}`);
    }
    const all = pages.join('\n');
    expect(all).not.toMatch(/canary/);
    expect(BROKEN.length).toBeGreaterThanOrEqual(60);
    await expect(all).toMatchFileSnapshot('expected.txt');
  });

  it('are counted beyond those that are shown', async () => {
    const heads = async (mistakes: number) => {
      const { err } = await checked(manyMistakes(mistakes));
      return err.split('\n').filter((line) => /^\S/.test(line));
    };
    expect(await heads(20)).toHaveLength(20);
    const many = await heads(42);
    expect(many).toHaveLength(21);
    expect(many.at(-1)).toBe('the configuration has 22 more problems, shown when these are corrected');
    expect((await heads(21)).at(-1)).toContain('1 more problem,');
    expect((await heads(1000)).at(-1)).toContain('at least 80 more problems');
  });

  it('are explained alike by check-config, by serve and by a reload', async () => {
    const refused = BROKEN.filter(([what]) => !what.startsWith('warning'));
    for (const [what, text] of refused.filter((_case, index) => index % SAMPLE === 0)) {
      const { err } = await checked(text);
      const load = loadOptions({ config: file });
      expect(() => requireConfiguration(load), what).toThrow(
        err.trimEnd().replaceAll('signalbox.yaml', file),
      );
      const loading = await loadConfigurationInThread(load);
      expect(loading.ok ? '' : problemsText(loading.problems, file).replaceAll(file, 'signalbox.yaml')).toBe(
        err,
      );
    }
  });
});
