// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configuration files name variables this way.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { openInstallation } from '../../../src/app/installation.ts';
import { run } from '../../../src/cli/run.ts';
import { makeDataDirectory, temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { type Ended, holdDirectory, killHard, signalbox } from '../../kit/program.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
let dataDir: string;
let file: string;

beforeEach(() => {
  temporary = temporaryDirectory();
  dataDir = join(temporary.path, 'data');
  file = join(temporary.path, 'signalbox.yaml');
  writeFileSync(file, '');
});

afterEach(() => temporary.remove());

/** Runs a command in this process, on the test's file and directory. */
function command(...words: string[]): Promise<Ended> {
  return typed(...words, '--config', file, '--data-dir', dataDir);
}

/** Runs a command line in this process. */
async function typed(...words: string[]): Promise<Ended> {
  let out = '';
  let err = '';
  const code = await run(words, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code: code ?? null, out, err };
}

describe('the built program', () => {
  it('prints its usage; misuse exits 2 with the usage', () => {
    const misuse = signalbox(temporary.path, ['keys', 'list', '--colour']);
    expect(misuse).toMatchObject({ code: 2, out: '' });
    expect(misuse.err).toMatch(/^signalbox: unknown flag: --colour\n\nUsage:/);
    expect(signalbox(temporary.path, ['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    expect(readdirSync(temporary.path)).toEqual(['signalbox.yaml']);
  });

  it('goes through the process that has the directory, and works alone after that was killed', async () => {
    const holder = await holdDirectory(dataDir, true);
    let made: Ended;
    try {
      made = signalbox(temporary.path, ['keys', 'create', '--name', 'n']);
    } finally {
      await killHard(holder);
    }
    expect(made.out).toMatch(/^sk-[0-9a-f]{64}\n/);
    expect(readdirSync(dataDir)).toContain('control.sock');
    expect(JSON.parse((await command('keys', 'list', '--json')).out)).toHaveLength(1);
  });

  it('keeps its directory locked until it is killed', async () => {
    const holder = await holdDirectory(dataDir, false);
    try {
      await expect(openInstallation({ dataDir, keyPrefix: 'sk-' })).rejects.toThrow(
        `the data directory ${dataDir} is in use by another process; stop it, or choose another directory with --data-dir`,
      );
    } finally {
      await killHard(holder);
    }
    await (await openInstallation({ dataDir, keyPrefix: 'sk-' })).close();
  });
});

describe('a directory in which no gateway has kept data', () => {
  const COMMANDS = [
    ['keys', 'list'],
    ['credits', 'show'],
    ['ledger', 'verify'],
    ['ledger', 'accept-loss'],
    ['rotate-encryption-key'],
    ['backup', 'copy'],
    ['doctor'],
  ];

  it.each(COMMANDS)('is refused and not created by %s %s', async (...words) => {
    const { code, out, err } = await command(...words);
    expect(code).toBe(1);
    if (words[0] === 'doctor') expect(out).toContain(`${dataDir} does not exist`);
    else
      expect(err).toMatch(`signalbox: no gateway has kept data in ${dataDir}; name its data directory with`);
    expect(readdirSync(temporary.path)).toEqual(['signalbox.yaml']);
  });

  it('is named by commands, and a file in its place gets fitting advice', async () => {
    makeDataDirectory(dataDir);
    expect((await command('keys', 'create', '--name', 'n')).err).toContain(`\nData directory: ${dataDir}\n`);
    expect((await command('keys', 'list')).out).toMatch(/WORKSPACE .*\n.* default /);
    expect((await command('ledger', 'verify')).err).toBe(`Data directory: ${dataDir}\n`);
    const { err } = await typed('keys', 'list', '--data-dir', file);
    expect(err).toContain('a file has its name, or that of a folder above it; move the file away');
  });
});

describe('signalbox', () => {
  it('shows help', async () => {
    expect(await command('--help')).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('Usage:'),
    });
  });
});

describe('signalbox check-config', () => {
  it('prints the effective configuration as YAML that is valid itself, without secrets', async () => {
    writeFileSync(
      file,
      'providers: [{ slug: acme, dialect: openai-chat, base_url: http://h/v1, api_key: canary-secret-of-acme }]\n' +
        'models: [{ id: acme/large, endpoints: [{ provider: acme }] }]\n',
    );
    const checked = await command('check-config');
    expect(checked).toMatchObject({ code: 0, err: '' });
    expect(checked.out).not.toContain('canary');
    expect(parse(checked.out)).toEqual({
      providers: [
        {
          slug: 'acme',
          dialect: 'openai-chat',
          base_url: 'http://h/v1',
          api_key: '***(16-to-63-characters)',
        },
      ],
      models: [{ id: 'acme/large', endpoints: [{ provider: 'acme' }] }],
    });
    expect(checked.out).toMatch(/\n# ok: 1 provider, 1 model of your own, 0 warnings\n$/);
    const whole = await command('check-config', '--defaults');
    expect(parse(whole.out)).toMatchObject({
      vendor: 'signalbox',
      drain_ms: 30_000,
      providers: [{ headers: {} }],
    });
    const again = join(temporary.path, 'again.yaml');
    writeFileSync(again, checked.out);
    expect((await typed('check-config', again)).code).toBe(0);
  });

  it('prints JSON on demand and warns of what may not be meant', async () => {
    writeFileSync(
      file,
      ['metrics: { public: true }', 'plugins:', '  web:', '    engines: { exa: { api_key: k } }'].join('\n'),
    );
    const checked = await command('check-config', '--json');
    expect(JSON.parse(checked.out)).toMatchObject({
      metrics: { public: true },
      runtime: { data_dir: dataDir },
    });
    expect(checked.err).toMatch(/^warning: plugins\.web\.engines\.exa\.price_per_search: /);
    expect(checked.err).toContain(`--> ${file}:4:`);
  });

  it('shows the simulator if no other provider serves', async () => {
    const { out } = await command('check-config', '--json');
    expect(JSON.parse(out).providers).toMatchObject([{ slug: 'simulator' }]);
  });

  it('warns of a credential that lacks a part', async () => {
    vi.stubEnv('AZURE_API_KEY', 'canary-0123456789');
    const { code, out, err } = await command('check-config');
    vi.unstubAllEnvs();
    expect(code).toBe(0);
    expect(err).toContain('warning: AZURE_API_KEY: is not used without AZURE_RESOURCE_NAME: set that too');
    expect(out + err).not.toContain('canary');
  });

  it('takes one file, as operand or flag or both', async () => {
    const again = relative(process.cwd(), file);
    expect(await typed('check-config', again, '--config', file)).toMatchObject({ code: 0, err: '' });
    expect(await typed('check-config', join(temporary.path, 'other.yaml'), '--config', file)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^signalbox: FILE and --config name two files; give one of them\n\nUsage:/),
    });
  });

  it('has no model take the place of a router', async () => {
    const endpoints = 'endpoints: [{ provider: openai }]';
    writeFileSync(
      file,
      `models:\n  - { id: signalbox/auto, ${endpoints} }\n  - { id: a/b, aliases: [signalbox/free], ${endpoints} }\n`,
    );
    const { code, err } = await command('check-config');
    expect(code).toBe(1);
    expect(err).toContain(
      'models[0].id: is a router of this gateway, so that no model can have it: signalbox/auto',
    );
    expect(err).toContain('models[1].aliases[0]: is a router of this gateway');
  });

  it('exits 1 with a line for each problem', async () => {
    writeFileSync(file, 'vendor: Bad\nroutin: {}\nproviders: [{ slug: openai, key: 1 }]');
    const checked = await command('check-config');
    expect(checked).toMatchObject({ code: 1, out: '' });
    expect(checked.err.split('\n').filter((line) => /^\S/.test(line))).toEqual([
      expect.stringMatching(/^vendor: must be /),
      'routin: is not a known field; did you mean "routing"?',
      'providers[0].key: is not a known field; did you mean "api_key"?',
    ]);
    expect(await typed('check-config', join(temporary.path, 'none.yaml'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('none.yaml: does not exist'),
    });
    writeFileSync(file, 'server: { region: "${SIGNALBOX_TEST_NOT_SET}" }');
    expect((await command('check-config')).err).toMatch(
      /^server\.region: the environment variable SIGNALBOX_TEST_NOT_SET is not set\n/,
    );
  });
});

describe('signalbox keys and accounts', () => {
  beforeEach(() => {
    makeDataDirectory(dataDir);
  });

  it('make, list and revoke keys without a gateway', async () => {
    const made = await command('keys', 'create', '--name', 'my key');
    // The secret alone, so that KEY=$(signalbox keys create ...) holds it.
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^sk-sb-v1-[0-9a-f]{64}\n$/) });
    expect(made.err).toMatch(/my key.*\n\nThe key above is shown this once/);
    const secret = made.out.trim();
    expect(made.err).not.toContain(secret);
    expect(existsSync(join(dataDir, 'signalbox.sqlite'))).toBe(true);
    const entries = readdirSync(dataDir, { recursive: true, withFileTypes: true });
    for (const { name, parentPath } of entries.filter((entry) => entry.isFile())) {
      expect(readFileSync(join(parentPath, name), 'latin1')).not.toContain(secret.slice(12));
    }

    const [key] = JSON.parse((await command('keys', 'list', '--json')).out);
    expect(key).toMatchObject({ name: 'my key', account: 'default', is_management_key: false });
    const listed = await command('keys', 'list');
    expect(listed.out).toContain('my key');
    expect(listed.out).not.toContain(secret);

    expect((await command('keys', 'revoke', key.hash.slice(0, 8))).code).toBe(0);
    expect((await command('keys', 'list', '--json')).out).toBe('[]\n');
    expect(await command('keys', 'revoke', key.hash)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^signalbox: hash: no key's hash begins with [0-9a-f]{64}\n$/),
    });
  });

  it('make accounts with a management key, which lists show as one', async () => {
    const made = JSON.parse((await command('accounts', 'create', 'acme', '--json')).out);
    expect(made).toMatchObject({ name: 'acme', management_key: expect.stringMatching(/^sk-sb-v1-/) });
    expect((await command('keys', 'list')).out).toMatch(
      /First management key +management +sk-\.\.\..{4} +acme/,
    );
    expect(await command('accounts', 'create', 'acme')).toMatchObject({
      code: 1,
      err: 'signalbox: name: there already is an account named acme\n',
    });
    expect(JSON.parse((await command('accounts', 'list', '--json')).out)).toHaveLength(2);
  });

  it('refuse a bad limit, and use the configured prefix and first grant', async () => {
    writeFileSync(file, 'keys: { prefix: sk-mine- }\ncredits: { initial_usd: 3 }');
    expect(await command('keys', 'create', '--name', 'n', '--limit', 'much')).toMatchObject({
      code: 1,
      err: expect.stringContaining('limit: must be an amount from 0 to'),
    });
    expect((await command('credits', 'show')).out).toBe('3.00\n');
    expect((await command('keys', 'create', '--name', 'n')).out).toMatch(/^sk-mine-[0-9a-f]{64}\n/);
  });

  it('stop at a broken configuration with its problems', async () => {
    writeFileSync(file, 'sever: {}');
    expect(await command('keys', 'list')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^sever: is not a known field; did you mean "server"\?\n/),
    });
    expect(existsSync(join(dataDir, 'signalbox.sqlite'))).toBe(false);
  });

  it('say which file is damaged, in one line', async () => {
    writeFileSync(join(dataDir, 'signalbox.sqlite'), 'garbage '.repeat(2000));
    expect(await command('keys', 'list')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^signalbox: the database .*signalbox\.sqlite is damaged[^\n]*\n$/),
    });
  });
});
