import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { run } from '../../../src/cli/run.ts';
import { makeDataDirectory, temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { PROGRAM } from '../../kit/program.ts';

let temporary: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  temporary = temporaryDirectory();
  makeDataDirectory(dataDir());
  vi.stubEnv('LOG_LEVEL', 'silent');
});

afterEach(() => {
  vi.unstubAllEnvs();
  temporary.remove();
});

const dataDir = () => join(temporary.path, 'data');

async function cli(...words: string[]) {
  let [out, err] = ['', ''];
  const code = await run([...words, '--data-dir', dataDir()], {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

/** The JSON that a command prints. */
async function result(...words: string[]): Promise<any> {
  const { code, out, err } = await cli(...words, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

async function problem(...words: string[]): Promise<string> {
  const { code, err } = await cli(...words);
  expect(code).toBe(1);
  return err;
}

describe('workspaces', () => {
  it('are made, changed, listed and deleted', async () => {
    const made = await result('workspaces', 'create', 'blue', '--io-logging', 'on');
    expect(made).toMatchObject({
      name: 'blue',
      account: 'default',
      is_observability_io_logging_enabled: true,
      managed_by: null,
    });
    const changed = await result(
      ...['workspaces', 'update', 'blue', '--slug', 'green', '--name', 'Green', '--description', 'x'],
      ...['--default-provider-sort', 'price', '--io-logging-sampling-rate', '0.5'],
    );
    expect(changed).toMatchObject({
      id: made.id,
      slug: 'green',
      name: 'Green',
      description: 'x',
      default_provider_sort: 'price',
      io_logging_sampling_rate: 0.5,
    });
    const cleared = await result(
      ...['workspaces', 'update', made.id, '--description', 'none', '--default-provider-sort', 'none'],
    );
    expect(cleared).toMatchObject({ description: null, default_provider_sort: null });
    expect((await cli('workspaces', 'list')).out).toMatch(/green +Green +default +- +50 % +- +\S+\n/);
    expect(await problem('workspaces', 'create', 'green')).toContain('slug: another workspace');
    expect(await problem('workspaces', 'update', 'green')).toContain('nothing to change');
    expect(await problem('workspaces', 'delete', 'default')).toContain('default workspace cannot be deleted');
    await result('workspaces', 'delete', 'green');
    expect(await problem('workspaces', 'delete', 'green')).toContain('default has no workspace green');
  });
});

describe('budgets', () => {
  it('are set, listed with what is left, and removed', async () => {
    await result('workspaces', 'create', 'team');
    const set = await result('budgets', 'set', 'daily', '2.5', '--workspace', 'team', '--include-byok');
    expect(set).toMatchObject({
      workspace: 'team',
      window: 'daily',
      limit_usd: 2.5,
      used_usd: 0,
      left_usd: 2.5,
      include_byok_in_budgets: true,
    });
    const monthly = await result('budgets', 'set', 'monthly', '9', '--workspace', 'team', '--exclude-byok');
    expect(monthly).toMatchObject({ include_byok_in_budgets: false });
    await result('budgets', 'set', 'lifetime', '1');
    expect((await result('budgets', 'list')).map((budget: any) => [budget.workspace, budget.window])).toEqual(
      [
        ['default', 'lifetime'],
        ['team', 'daily'],
        ['team', 'monthly'],
      ],
    );
    expect(await problem('budgets', 'set', 'weekly', '1', '--workspace', 'team')).toContain(
      'must be more than the daily budget',
    );
    expect(await problem('budgets', 'set', 'weekly', 'much')).toContain('USD: must be an amount');
    await result('budgets', 'remove', 'daily', '--workspace', 'team');
    expect(await problem('budgets', 'remove', 'daily', '--workspace', 'team')).toContain('no daily budget');
  });
});

describe('byok', () => {
  it('takes a secret from the environment, shows it masked and stores it encrypted', async () => {
    vi.stubEnv('SECRET_OF_THE_TEST', 'sk-secret-of-the-test-1234');
    const made = await result('byok', 'add', 'openai', '--secret-env', 'SECRET_OF_THE_TEST', '--fallback');
    expect(made).toMatchObject({ label: 'sk-...1234', workspace: 'default', is_fallback: true });
    const global = await result(
      ...['byok', 'add', 'groq', '--secret-env', 'SECRET_OF_THE_TEST', '--all-workspaces', '--name', 'G'],
    );
    expect(global).toMatchObject({ workspace: null, name: 'G' });
    await result('workspaces', 'create', 'team');
    expect(await result('byok', 'list', '--workspace', 'team')).toMatchObject([{ provider: 'groq' }]);
    expect((await cli('byok', 'list')).out).toMatch(
      /openai +- +sk-\.\.\.1234 +default +default +active +last/,
    );
    expect(readFileSync(join(dataDir(), 'signalbox.sqlite'), 'latin1')).not.toContain('secret-of-the-test');
    expect(await problem('byok', 'add', 'openai', '--secret-env', 'NOT_SET_HERE')).toContain('is not set');
    expect(await problem('byok', 'remove', 'abc')).toContain('first 8 or more characters');
    await result('byok', 'remove', made.id.slice(0, 8));
    expect(await problem('byok', 'remove', made.id)).toContain("no credential's id begins with");
  });

  it('takes a secret from standard input, and none from an argument', () => {
    const add = (words: string[], input: string) =>
      spawnSync(process.execPath, [PROGRAM, 'byok', 'add', ...words, '--data-dir', dataDir(), '--json'], {
        cwd: temporary.path,
        env: { PATH: process.env.PATH, LOG_LEVEL: 'silent' },
        encoding: 'utf8',
        input,
      });
    const { status, stdout } = add(['openai'], 'sk-typed-in-by-hand-9876\n');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ label: 'sk-...9876' });
    expect(add(['openai'], '').stderr).toContain('standard input holds nothing');
    expect(add(['openai', 'sk-typed-in-by-hand-9876'], '').status).toBe(2);
  });
});

describe('keys', () => {
  it('are disabled, enabled and changed by the beginning of their hash', async () => {
    const { hash } = await result('keys', 'create', '--name', 'n', '--limit', '5');
    const beginning = hash.slice(0, 8);
    expect(await result('keys', 'disable', beginning)).toMatchObject({ hash, disabled: true });
    expect((await cli('keys', 'list')).out).toMatch(/n +plain +\S+ +default +default +disabled/);
    expect(await result('keys', 'enable', beginning)).toMatchObject({ disabled: false, limit: 5 });
    expect(
      await result(
        ...[
          'keys',
          'update',
          hash,
          '--name',
          'm',
          '--limit',
          '7.5',
          '--limit-reset',
          'weekly',
          '--include-byok',
        ],
      ),
    ).toMatchObject({ name: 'm', limit: 7.5, limit_reset: 'weekly', include_byok_in_limit: true });
    expect(
      await result('keys', 'update', hash, '--limit', 'none', '--limit-reset', 'never', '--exclude-byok'),
    ).toMatchObject({ limit: null, limit_reset: null, include_byok_in_limit: false });
    expect(await problem('keys', 'update', hash)).toContain('nothing to change');
    expect(await problem('keys', 'update', hash, '--include-byok', '--exclude-byok')).toContain(
      'one of them',
    );
    const management = await result('keys', 'create', '--name', 'boss', '--management');
    expect(await problem('keys', 'update', management.hash, '--limit', '1')).toContain('spends nothing');
    expect(await result('keys', 'disable', management.hash)).toMatchObject({ disabled: true });
  });
});

describe('what the configuration file declares', () => {
  it('is shown, and not changed by commands', async () => {
    await result('workspaces', 'create', 'team');
    const { hash } = await result('keys', 'create', '--name', 'n', '--workspace', 'team');
    await declare('team', hash);
    const refusal = (member: string) => `is managed by the configuration file: change ${member} there`;
    for (const command of ['disable', 'enable', 'revoke']) {
      expect(await problem('keys', command, hash)).toContain(refusal('workspaces[0].keys[0]'));
    }
    expect(await problem('keys', 'update', hash, '--limit', '1')).toContain(refusal('workspaces[0].keys[0]'));
    expect(await problem('workspaces', 'update', 'team', '--name', 'x')).toContain(refusal('workspaces[0]'));
    expect(await problem('workspaces', 'delete', 'team')).toContain(refusal('workspaces[0]'));
    expect(await problem('budgets', 'set', 'daily', '5', '--workspace', 'team')).toContain(
      refusal('workspaces[0].budgets'),
    );
    expect((await cli('workspaces', 'list')).out).toMatch(/team .* file +\S+\n/);
    expect((await cli('keys', 'list')).out).toMatch(/ file +[0-9a-f]{64}\n/);
  });
});

/** Marks a workspace, its budgets and a key as a gateway does that has them in its file. */
async function declare(slug: string, hash: string): Promise<void> {
  const installation = await openInstallation({ dataDir: dataDir(), keyPrefix: 'sk-' });
  const { tenancy, accounts } = installation;
  const { id: accountId } = await accounts.ensureFirst();
  const workspace = await tenancy.findWorkspace(accountId, slug);
  const members = { fileMember: 'workspaces[0]', budgetsFileMember: 'workspaces[0].budgets' };
  await tenancy.updateWorkspace(accountId, workspace?.id ?? '', members, 1);
  await tenancy.updateKey(hash, { fileMember: 'workspaces[0].keys[0]' }, 1);
  await installation.close();
}
