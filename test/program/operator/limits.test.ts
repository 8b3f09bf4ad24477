import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { Credits } from '../../../src/manage/accounts/credits.ts';
import { forgetSpending } from '../../../src/manage/workspaces/forget-spending.ts';
import { LedgerUnavailable } from '../../../src/ports/money/ledger.ts';
import type { Key } from '../../../src/ports/tenancy/tenancy.ts';
import { makeDataDirectory, temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { openTestInstallation } from '../../kit/installation.ts';

const DAY_MS = 86_400_000;

describe('what keys have spent', () => {
  let under: Awaited<ReturnType<typeof openTestInstallation>>;
  let generations = 0;

  beforeEach(async () => {
    under = await openTestInstallation();
  });

  afterEach(() => under.close());

  async function spend({ hash, accountId, workspaceId }: Key, creditNanos: bigint, byokNanos = 0n) {
    const used = { creditNanos, byokNanos };
    const atMs = under.sources.clock.now();
    const generationId = `gen-${++generations}`;
    const scopes = { key: hash, workspace: workspaceId, account: accountId };
    const limits = { key: [], workspace: [] };
    await under.ledger.reserve({ generationId, scopes, limits, atMs, row: {} }, () => used);
    await under.ledger.settle(generationId, { used, row: {}, atMs });
  }

  it('counts by window, and what the limit leaves with it', async () => {
    const { key } = await under.keys.issue({ name: 'n', limit: 10, limit_reset: 'daily' });
    await spend(key, 3_000_000_000n, 1_000_000_000n);
    under.time.advance(DAY_MS);
    await spend(key, 2_000_000_000n);
    const { spending, remainingNanos } = await under.keys.get(key.accountId, key.hash);
    expect(spending.credit).toMatchObject({ lifetime: 5_000_000_000n, daily: 2_000_000_000n });
    expect(spending.byok).toMatchObject({ lifetime: 1_000_000_000n, daily: 0n });
    expect(remainingNanos).toBe(8_000_000_000n);
    const inAll = await under.keys.update(key.accountId, key.hash, { limit_reset: null });
    expect(inAll.remainingNanos).toBe(5_000_000_000n);
    const withByok = await under.keys.update(key.accountId, key.hash, { include_byok_in_limit: true });
    expect(withByok.remainingNanos).toBe(4_000_000_000n);
    const lowered = await under.keys.update(key.accountId, key.hash, { limit: 1 });
    expect(lowered.remainingNanos).toBe(0n);
  });

  it('lists a page of keys with what each has spent', async () => {
    const keys = [];
    for (const name of ['one', 'two', 'three']) {
      keys.push((await under.keys.issue({ name })).key);
      under.time.advance(1);
    }
    for (const [index, key] of keys.entries()) await spend(key, BigInt(index + 1));
    const listed = await under.keys.list(keys[0]!.accountId, {});
    expect(listed.map(({ key, spending }) => [key.name, spending.credit.lifetime])).toEqual([
      ['three', 3n],
      ['two', 2n],
      ['one', 1n],
    ]);
  });

  it('is forgotten with the key, not with what the account has used', async () => {
    const { key, secret } = await under.keys.issue({ name: 'n' });
    await under.credits.set(key.accountId, 10n);
    await spend(key, 4n);
    expect(await under.credits.of(key.accountId)).toEqual({ usedNanos: 4n, leftNanos: 6n });
    await under.keys.delete(key.accountId, key.hash);
    const again = await under.keys.ensure(secret, { name: 'n' });
    expect((await under.keys.statementOf(again)).spending.credit.lifetime).toBe(0n);
    expect(await under.credits.of(key.accountId)).toEqual({ usedNanos: 4n, leftNanos: 6n });
    expect(await under.credits.set(key.accountId, 1n)).toEqual({ usedNanos: 4n, leftNanos: 1n });
  });

  it('is forgotten with the workspace', async () => {
    const [account] = [await under.accounts.ensureFirst()];
    const owner = (await under.keys.issue({ name: 'm', isManagement: true })).key;
    const { id } = await under.workspaces.create(owner, { name: 'T', slug: 't' });
    const { key } = await under.keys.issue({ name: 'n', workspace: 't' });
    await spend(key, 4n);
    await under.keys.update(account!.id, key.hash, { disabled: true });
    await under.workspaces.delete(account!.id, 't');
    const [spending] = await under.ledger.spendingOf('workspace', [id], under.sources.clock.now());
    expect(spending?.credit.lifetime).toBe(0n);
  });
});

describe('a ledger that cannot record', () => {
  const broken = () => Promise.reject(new LedgerUnavailable('the disk is full'));

  it('refuses a grant with a 503, in words', async () => {
    const clock = { now: () => 1, monotonic: () => 1 };
    const credits = new Credits({ grant: broken, statementOf: broken }, { clock } as never);
    await expect(credits.set('a', 1n)).rejects.toMatchObject({
      status: 503,
      message: 'Service temporarily unavailable: the disk is full',
    });
  });

  it('does not prevent deletion', async () => {
    await expect(forgetSpending({ forget: broken }, 'key', ['a', 'b'], 1)).resolves.toBeUndefined();
    const failing = { forget: () => Promise.reject(new Error('something else')) };
    await expect(forgetSpending(failing, 'key', ['a'], 1)).rejects.toThrow('something else');
  });
});

describe('commands without a gateway', () => {
  let directory: ReturnType<typeof temporaryDirectory>;

  beforeEach(() => {
    directory = temporaryDirectory();
    makeDataDirectory(join(directory.path, 'data'));
  });

  afterEach(() => directory.remove());

  async function signalbox(...words: string[]) {
    const written = { out: '', err: '' };
    const code = await run([...words, '--data-dir', join(directory.path, 'data')], {
      out: (text) => {
        written.out += text;
      },
      err: (text) => {
        written.err += text;
      },
    });
    return { code, ...written };
  }

  it('show and set what is left', async () => {
    expect(await signalbox('credits', 'show')).toEqual({ code: 0, out: 'none\n', err: '' });
    expect((await signalbox('credits', 'set', '12.5')).out).toBe('12.50\n');
    const shown = await signalbox('credits', 'show', '--account', 'default', '--json');
    expect(JSON.parse(shown.out)).toMatchObject({ account: 'default', left_usd: 12.5, used_usd: 0 });
    expect((await signalbox('credits', 'set', 'none')).out).toBe('none\n');
    expect(await signalbox('credits', 'set', '--account', 'nobody', '5')).toMatchObject({
      code: 1,
      err: 'signalbox: account: there is no account named nobody\n',
    });
    expect((await signalbox('credits', 'set', '5x')).err).toContain('USD: must be an amount');
  });

  it('make keys with limits and list them with what they have used', async () => {
    const made = await signalbox(
      ...['keys', 'create', '--name', 'n', '--limit', '0.5', '--limit-reset', 'weekly', '--include-byok'],
    );
    expect(made.code).toBe(0);
    await signalbox('keys', 'create', '--name', 'free');
    await signalbox('keys', 'create', '--name', 'boss', '--management');
    const { out } = await signalbox('keys', 'list');
    expect(out).toMatch(
      /^NAME +KIND +LABEL +ACCOUNT +WORKSPACE +STATE +LIMIT +USED +MODELS +A MINUTE +CREATED +MANAGED BY +HASH$/m,
    );
    expect(out).toMatch(/^n +plain .* 0\.50 weekly with BYOK +0\.00 /m);
    expect(out).toMatch(/^free +plain .* none +0\.00 /m);
    expect(out).toMatch(/^boss +management .* - +- /m);
    expect((await signalbox('keys', 'create', '--name', 'n', '--limit', '5x')).err).toContain(
      'limit: must be an amount from 0 to',
    );
    const bad = await signalbox('keys', 'create', '--name', 'n', '--limit', '1', '--limit-reset', 'hourly');
    expect(bad).toMatchObject({
      code: 2,
      err: expect.stringContaining('--limit-reset: hourly is none of daily, weekly'),
    });
  });

  it('make keys with models, rates and an expiry, change them, and show one', async () => {
    const limits = ['--requests-per-minute', '60', '--tokens-per-minute', '40000'];
    const models = ['--allow-model', 'acme/large', '--allow-model', 'small'];
    const expiry = ['--expires', '2099-01-31T12:00:00Z'];
    const made = await signalbox('keys', 'create', '--name', 'ci', ...models, ...limits, ...expiry, '--json');
    const { hash, ...key } = JSON.parse(made.out);
    expect(key).toMatchObject({
      allowed_models: ['acme/large', 'small'],
      requests_per_minute: 60,
      tokens_per_minute: 40_000,
      expires_at: '2099-01-31T12:00:00.000Z',
    });
    expect((await signalbox('keys', 'list')).out).toMatch(/^ci +plain .* 2 +60 requests, 40000 tokens /m);
    const shown = (await signalbox('keys', 'show', hash)).out;
    expect(shown).toMatch(/^MODELS +acme\/large, small$/m);
    expect(shown).toMatch(/^EXPIRES +2099-01-31T12:00:00\.000Z$/m);
    expect(shown).toMatch(/^GUARDRAILS +-$/m);
    const none = ['--allow-model', 'all', '--requests-per-minute', 'none', '--tokens-per-minute', '0'];
    const changed = await signalbox('keys', 'update', hash, ...none, '--expires', 'never', '--json');
    expect(JSON.parse(changed.out)).toMatchObject({
      allowed_models: null,
      requests_per_minute: null,
      tokens_per_minute: null,
      expires_at: null,
    });
  });

  it.each([
    [['--requests-per-minute', 'many'], 'requests_per_minute: must be'],
    [['--tokens-per-minute', '1.5'], 'tokens_per_minute: must be an integer'],
    [['--expires', 'tomorrow'], 'expires_at: must be a moment in UTC such as 2030-01-31T12:00:00Z'],
    [['--expires', '2020-01-01T00:00:00Z'], 'expires_at: must be in the future'],
    [['--allow-model', 'all', '--allow-model', 'a/b'], '--allow-model: all is every model'],
    [['--management', '--allow-model', 'a/b'], 'allowed_models: a management key spends nothing'],
  ])('refuse %j', async (flags, message) => {
    expect(await signalbox('keys', 'create', '--name', 'n', ...flags)).toMatchObject({
      code: 1,
      err: expect.stringContaining(message),
    });
  });
});
