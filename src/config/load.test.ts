import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leastMs } from '../../test/kit/builders/least-ms.ts';
import { KNOWN_PROVIDERS } from '../catalog/providers/known-providers.ts';
import { loadConfiguration, requireConfiguration } from './load.ts';
import type { Flags } from './runtime.ts';

let cwd = '';

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'signalbox-load-'));
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function load(env: Record<string, string> = {}, flags: Flags = {}) {
  return requireConfiguration({ env, flags, cwd, knownProviders: KNOWN_PROVIDERS });
}

function problems(env: Record<string, string> = {}, flags: Flags = {}): string[] {
  const loading = loadConfiguration({ env, flags, cwd, knownProviders: KNOWN_PROVIDERS });
  return loading.ok ? [] : loading.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe('loadConfiguration', () => {
  it('works with nothing at all', () => {
    const loaded = load();
    expect(loaded.file).toBeUndefined();
    expect(loaded.watchedFile).toBe(join(cwd, 'signalbox.yaml'));
    expect(loaded.runtime).toMatchObject({
      host: '127.0.0.1',
      port: 8787,
      dataDir: join(cwd, 'data'),
      logLevel: 'info',
    });
  });

  it('reads signalbox.yaml when it is there', () => {
    writeFileSync(join(cwd, 'signalbox.yaml'), 'vendor: acme');
    expect(load()).toMatchObject({ file: join(cwd, 'signalbox.yaml'), config: { vendor: 'acme' } });
  });

  it('lets flags win over the environment', () => {
    writeFileSync(join(cwd, 'env.yaml'), 'vendor: from-env');
    writeFileSync(join(cwd, 'flag.yaml'), 'vendor: from-flag');
    const env = { PORT: '1', HOST: 'h', SIGNALBOX_DATA_DIR: 'd', SIGNALBOX_CONFIG: 'env.yaml' };
    expect(load(env)).toMatchObject({
      config: { vendor: 'from-env' },
      runtime: { port: 1, host: 'h', dataDir: join(cwd, 'd') },
    });
    expect(load(env, { port: '2', host: 'g', dataDir: '/e', config: 'flag.yaml' })).toMatchObject({
      config: { vendor: 'from-flag' },
      runtime: { port: 2, host: 'g', dataDir: '/e' },
    });
  });

  it('counts an empty variable as not set', () => {
    expect(load({ PORT: '', LOG_LEVEL: '', DATABASE_URL: '' }).runtime.port).toBe(8787);
  });

  it.each([
    [{ PORT: 'x' }, {}, 'PORT: must be a whole number from 0 to 65535'],
    [{}, { port: '70000' }, '--port: must be a whole number from 0 to 65535'],
    [{}, { workers: '0' }, '--workers: must be a whole number from 1 to 1024, or auto'],
    [{}, { workers: 'many' }, '--workers: must be a whole number from 1 to 1024, or auto'],
    [{}, { config: 'none.yaml' }, 'none.yaml: does not exist'],
    [{}, { config: '.' }, 'is not a file'],
    [{ LOG_LEVEL: 'loud' }, {}, 'LOG_LEVEL: must be one of debug, info, warn, error, silent'],
    [{ SIGNALBOX_ENCRYPTION_KEY: 'abc' }, {}, 'SIGNALBOX_ENCRYPTION_KEY: must be 32 bytes in base64'],
    [
      { SIGNALBOX_API_KEY: 'sixteen or more characters' },
      {},
      'SIGNALBOX_API_KEY: must be 16 to 512 printable characters',
    ],
    [
      { SIGNALBOX_MANAGEMENT_KEY: '15-characters..' },
      {},
      'SIGNALBOX_MANAGEMENT_KEY: must be 16 to 512 printable characters',
    ],
    [
      { SIGNALBOX_API_KEY: '16-characters...', SIGNALBOX_MANAGEMENT_KEY: '16-characters...' },
      {},
      'SIGNALBOX_API_KEY: must differ',
    ],
    [{ DATABASE_URL: 'mysql://u:secret@h/d' }, {}, 'DATABASE_URL: must be an address such as postgres://'],
    [{ REDIS_URL: 'http://u:secret@h' }, {}, 'REDIS_URL: must be an address such as redis://'],
    [{ CLICKHOUSE_URL: 'tcp://u:secret@h' }, {}, 'CLICKHOUSE_URL: must be an address such as http://'],
  ])('stops at %j %j', (env, flags, problem) => {
    const found = problems(env as Record<string, string>, flags);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(problem);
    expect(found[0]).not.toContain('secret');
  });

  it('refuses a file over 4 MB without reading it', () => {
    writeFileSync(join(cwd, 'signalbox.yaml'), `# ${'x'.repeat(4_000_000)}`);
    expect(problems()[0]).toContain('is larger than 4000000 bytes');
    expect(leastMs(problems)).toBeLessThan(500);
  });

  it('does not wait for a pipe or read a device', () => {
    spawnSync('mkfifo', [join(cwd, 'signalbox.yaml')]);
    expect(problems()).toEqual([`${join(cwd, 'signalbox.yaml')}: is not a file`]);
    expect(problems({}, { config: '/dev/zero' })).toEqual(['/dev/zero: is not a file']);
  });

  it('refuses a discount, which it would not take off', () => {
    const provider = '{ slug: p, dialect: openai-chat, base_url: http://h/v1 }';
    const model = (pricing: string) => `{ id: a/x, endpoints: [{ provider: p, pricing: ${pricing} }] }`;
    const write = (pricing: string) =>
      writeFileSync(join(cwd, 'signalbox.yaml'), `providers: [${provider}]\nmodels: [${model(pricing)}]`);
    write('{ discount: "0.1" }');
    expect(problems()[0]).toContain('pricing.discount: is not charged: take it off the prices');
    write('{ overrides: [{ min_prompt_tokens: 5, discount: "0.1" }] }');
    expect(problems()[0]).toContain('pricing.overrides[0].discount: is not charged');
    write('{ discount: "0" }');
    expect(() => load()).not.toThrow();
  });

  it.each([
    ['', ['plugins.file-parser.ocr.price_per_page']],
    [', price_per_page: 0', []],
  ])('warns of a service for pages without a price, not of one that is free', (price, paths) => {
    writeFileSync(
      join(cwd, 'signalbox.yaml'),
      [
        'providers: [{ slug: p, dialect: openai-chat, base_url: http://h/v1 }]',
        `plugins: { file-parser: { ocr: { provider: p, model: m${price} } } }`,
      ].join('\n'),
    );
    expect(load().warnings.map(({ path }) => path)).toEqual(paths);
  });

  it('warns of a search engine whose searches have no price, unless it is said to be free', () => {
    const engines = [
      'exa: { api_key: k }',
      'tavily: { api_key: k, price_per_search: 0.008 }',
      'searxng: { url: "http://h", price_per_search: 0 }',
    ];
    writeFileSync(join(cwd, 'signalbox.yaml'), `plugins: { web: { engines: { ${engines.join()} } } }`);
    expect(load().warnings).toMatchObject([
      {
        path: 'plugins.web.engines.exa.price_per_search',
        message: expect.stringMatching(/searches are free.*in USD, or 0 if it bills nothing/),
      },
    ]);
  });

  it('has presets checked by `presetCheck`', () => {
    writeFileSync(join(cwd, 'signalbox.yaml'), 'vendor: acorn\npresets: { mine: { warmth: 2 } }');
    const presetCheck = (presets: object, vendor: string) =>
      Object.keys(presets).map((slug) => ({ path: `presets.${slug}.warmth`, message: `not at ${vendor}` }));
    const loading = loadConfiguration({ cwd, env: {}, knownProviders: KNOWN_PROVIDERS, presetCheck });
    expect(loading).toMatchObject({
      ok: false,
      problems: [{ path: 'presets.mine.warmth', message: 'not at acorn' }],
    });
  });
});
