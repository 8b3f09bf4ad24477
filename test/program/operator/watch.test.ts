import { spawnSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KNOWN_PROVIDERS } from '../../../src/catalog/providers/known-providers.ts';
import {
  type LoadedConfiguration,
  loadConfigurationInThread,
  requireConfiguration,
} from '../../../src/config/load.ts';
import { type ConfigurationWatch, watchConfiguration } from '../../../src/config/watch.ts';
import { openLog } from '../../../src/kit/log/log.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
let file: string;
let lines: string[];
let applied: LoadedConfiguration[];
let watch: ConfigurationWatch | undefined;

beforeEach(() => {
  temporary = temporaryDirectory();
  file = join(temporary.path, 'signalbox.yaml');
  lines = [];
  applied = [];
});

afterEach(() => {
  watch?.close();
  watch = undefined;
  temporary.remove();
});

function start(apply: (loaded: LoadedConfiguration) => void = () => {}): ConfigurationWatch {
  const options = { env: {}, cwd: temporary.path, knownProviders: KNOWN_PROVIDERS };
  watch = watchConfiguration({
    initial: requireConfiguration(options),
    load: () => loadConfigurationInThread(options),
    apply: (loaded) => {
      apply(loaded);
      applied.push(loaded);
    },
    log: openLog({ level: 'info', readable: false, write: (line) => lines.push(line), now: () => 0 }),
  });
  return watch;
}

async function until(condition: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + 5000;
  while (!condition()) {
    if (Date.now() > giveUpAt) throw new Error(`never happened; log: ${lines.join('')}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const region = () => applied.at(-1)?.config.server.region;

describe('watchConfiguration', () => {
  it('reloads a changed file, however it was saved', async () => {
    writeFileSync(file, 'server: { region: one }');
    start();
    writeFileSync(file, 'server: { region: two }');
    await until(() => region() === 'two');
    writeFileSync(`${file}.new`, 'server: { region: three }');
    renameSync(`${file}.new`, file);
    await until(() => region() === 'three');
    writeFileSync(join(temporary.path, 'real.yaml'), 'server: { region: four }');
    unlinkSync(file);
    symlinkSync('real.yaml', file);
    await until(() => region() === 'four');
  });

  it('reloads once when a signal follows a change', async () => {
    writeFileSync(file, 'server: { region: one }');
    start();
    writeFileSync(file, 'server: { region: two }');
    process.emit('SIGHUP');
    await until(() => region() === 'two');
    // Longer than a poll and its settling.
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(applied).toHaveLength(1);
    writeFileSync(file, 'server: { region: three }');
    await until(() => region() === 'three');
  });

  it('loads a file that did not exist at the start', async () => {
    start();
    writeFileSync(file, 'server: { region: new }');
    await until(() => region() === 'new');
  });

  it.each(['', '# nothing but a comment\n', '---\n{}\n'])(
    'keeps what is running when the file says nothing: %j',
    async (nothing) => {
      writeFileSync(file, 'server: { region: one }');
      const { reload } = start();
      writeFileSync(file, nothing);
      expect(await reload()).toBe(false);
      expect(applied).toEqual([]);
      expect(lines.join('')).toContain('the file is empty');
      writeFileSync(file, 'server: { region: two }');
      expect(await reload()).toBe(true);
    },
  );

  it('takes an empty file at the start', async () => {
    writeFileSync(file, '');
    const { reload } = start();
    expect(await reload()).toBe(true);
  });

  it('reads the file on SIGHUP', async () => {
    writeFileSync(file, 'server: { region: one }');
    start();
    process.kill(process.pid, 'SIGHUP');
    await until(() => applied.length === 1);
  });

  it.each([
    ['a syntax error', 'server: { region: "x', 'line 1'],
    [
      'an unknown provider',
      'models: [{ id: a/b, endpoints: [{ provider: nobody }] }]',
      'models[0].endpoints[0].provider',
    ],
    ['a duplicate slug', 'providers: [{ slug: openai }, { slug: openai }]', 'providers[1].slug'],
    [
      'a pattern that cannot compile',
      'plugins: { auto-router: { models: ["("] } }',
      'plugins.auto-router.models[0]',
    ],
    ['an unknown key', 'sever: {}', 'sever: is not a known field'],
    ['a file of 100 MB', `# ${'x'.repeat(100_000_000)}`, 'is larger than'],
  ])('keeps the running configuration and logs the reason: %s', async (_what, text, reason) => {
    writeFileSync(file, 'server: { region: one }');
    const watching = start();
    writeFileSync(file, text);
    const before = process.cpuUsage();
    expect(await watching.reload()).toBe(false);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1000);
    expect(applied).toEqual([]);
    expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({
      level: 'error',
      reason: expect.stringContaining(reason),
    });
    writeFileSync(file, 'server: { region: two }');
    expect(await watching.reload()).toBe(true);
    expect(region()).toBe('two');
  });

  it('keeps the running configuration when the file is removed', async () => {
    writeFileSync(file, 'server: { region: one }');
    const watching = start();
    rmSync(file);
    expect(await watching.reload()).toBe(false);
    expect(lines[0]).toContain('the file is gone');
  });

  it('keeps the running configuration if the new one cannot be applied', async () => {
    writeFileSync(file, 'server: { region: one }');
    let fails = true;
    const watching = start(() => {
      if (fails) throw new Error('no room');
    });
    expect(await watching.reload()).toBe(false);
    expect(lines[0]).toContain('no room');
    fails = false;
    expect(await watching.reload()).toBe(true);
  });

  it('names keys that need a restart, and keeps their running value until then', async () => {
    writeFileSync(file, 'vendor: one\nkeys: { prefix: a- }\ndrain_ms: 1');
    const watching = start();
    writeFileSync(file, 'vendor: two\nkeys: { prefix: b- }\ndrain_ms: 2');
    await watching.reload();
    expect(applied[0]?.config).toMatchObject({ vendor: 'one', keys: { prefix: 'a-' }, drain_ms: 2 });
    expect(lines.map((line) => JSON.parse(line)).find(({ keys }) => keys)?.keys).toEqual([
      'vendor',
      'keys.prefix',
    ]);
  });

  it('reloads the last of several changes; one pending reload serves all requests for one', async () => {
    writeFileSync(file, 'server: { region: one }');
    const watching = start();
    writeFileSync(file, 'server: { region: two }');
    const first = watching.reload();
    await Promise.resolve();
    writeFileSync(file, 'server: { region: three }');
    expect(await Promise.all([first, watching.reload(), watching.reload()])).toEqual([true, true, true]);
    expect(region()).toBe('three');
    expect(applied).toHaveLength(2);
  });

  it('reloads nothing once it is closed', async () => {
    writeFileSync(file, 'server: { region: one }');
    const watching = start();
    const reloading = watching.reload();
    watching.close();
    expect(await reloading).toBe(false);
    expect(applied).toEqual([]);
  });

  it('keeps the running configuration when a pipe takes the place of the file', async () => {
    writeFileSync(file, 'server: { region: one }');
    const watching = start();
    rmSync(file);
    spawnSync('mkfifo', [file]);
    expect(await watching.reload()).toBe(false);
    expect(lines[0]).toContain('is not a file');
  });
});
