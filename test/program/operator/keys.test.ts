import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bootstrap } from '../../../src/manage/keys/bootstrap.ts';
import { hashSecret } from '../../../src/manage/keys/hash-secret.ts';
import { openTestInstallation } from '../../kit/installation.ts';

let under: Awaited<ReturnType<typeof openTestInstallation>>;

beforeEach(async () => {
  under = await openTestInstallation();
});

afterEach(() => under.close());

describe('keys', () => {
  it('have a prefix and 64 hex digits, and only their hash is stored', async () => {
    const { key, secret } = await under.keys.issue({ name: 'n' });
    expect(secret).toMatch(/^sk-sb-v1-[0-9a-f]{64}$/);
    expect(key.hash).toBe(hashSecret(secret));
    expect(key.label).toBe(`sk-...${secret.slice(-4)}`);
    const stored = ['signalbox.sqlite', 'signalbox.sqlite-wal']
      .map((name) => readFileSync(join(under.dataDir, name), 'latin1'))
      .join('');
    expect(stored).toContain(key.hash);
    expect(stored).not.toContain(secret.slice(9));
  });

  it('carry a limit', async () => {
    const { key } = await under.keys.issue({
      name: 'n',
      limit: 12.5,
      limit_reset: 'weekly',
      include_byok_in_limit: true,
    });
    expect(key).toMatchObject({
      limitNanos: 12_500_000_000n,
      limitReset: 'weekly',
      includeByokInLimit: true,
    });
    const [statement] = await under.keys.statementsOf(await under.keys.listAll());
    expect(statement).toMatchObject({ key, remainingNanos: 12_500_000_000n });
  });

  it.each([
    [{ name: '' }, 'name: must not be empty'],
    [{ name: 'a\nb' }, 'name: must not hold control characters'],
    [{ name: ' a' }, 'name: must not begin or end with a blank'],
    [{ name: 'x'.repeat(256) }, 'name: must have at most 255 characters'],
    [{ name: 'n', limit_reset: 'daily' as const }, 'limit: is missing'],
    [{ name: 'n', include_byok_in_limit: true }, 'limit: is missing'],
    [{ name: 'n', limit: 5, isManagement: true }, 'limit: a management key spends nothing'],
    [{ name: 'n', requests_per_minute: 5, isManagement: true }, 'requests_per_minute: a management key'],
    [{ name: 'n', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: must be in the future'],
    [{ name: 'n', account: 'nobody' }, 'account: there is no account named nobody'],
    [{ name: 'n', workspace: 'blue' }, 'workspace: default has no workspace blue'],
  ])('are refused for %j', async (wanted, message) => {
    await expect(under.keys.issue(wanted)).rejects.toThrow(message);
  });

  it('are revoked by hash or by a beginning of it that is long enough', async () => {
    const one = await under.keys.issue({ name: 'one' });
    const two = await under.keys.issue({ name: 'two' });
    await expect(under.keys.revoke(one.key.hash.slice(0, 7))).rejects.toThrow('first 8 or more hex digits');
    await expect(under.keys.revoke('%%%%%%%%%')).rejects.toThrow('first 8 or more hex digits');
    await expect(under.keys.revoke('0'.repeat(64))).rejects.toThrow("no key's hash begins with");
    await under.keys.revoke(one.key.hash.slice(0, 8).toUpperCase());
    await under.keys.revoke(two.key.hash);
    expect(await under.keys.listAll()).toEqual([]);
  });

  it('are not revoked through another account', async () => {
    const { key } = await under.keys.issue({ name: 'one' });
    await under.accounts.create('beta');
    await expect(under.keys.revoke(key.hash, 'beta')).rejects.toThrow("no key's hash begins with");
    expect(await under.keys.listAll()).toHaveLength(1);
  });
});

describe('CallerDirectory', () => {
  it('finds a key by its secret and nothing by anything else', async () => {
    const { key, secret } = await under.keys.issue({ name: 'n' });
    expect((await under.callers.find(secret))?.key).toEqual(key);
    for (const wrong of [
      '',
      `${secret}x`,
      secret.slice(0, -1),
      key.hash,
      "' OR 1=1 --",
      'x'.repeat(100_000),
    ]) {
      expect(await under.callers.find(wrong)).toBeUndefined();
    }
  });

  it('sees a new and a revoked key at once', async () => {
    const secret = 'a-secret-that-was-tried-before';
    expect(await under.callers.find(secret)).toBeUndefined();
    const key = await under.keys.ensure(secret, { name: 'n' });
    expect((await under.callers.find(secret))?.key).toEqual(key);
    await under.keys.revoke(key.hash);
    expect(await under.callers.find(secret)).toBeUndefined();
  });

  it('has the workspace and the limits, and sees changes of both at once', async () => {
    const { key, secret } = await under.keys.issue({ name: 'n', limit: 2 });
    const place = [key.accountId, key.workspaceId] as const;
    const limits = async () => (await under.callers.find(secret))?.limits;
    expect((await under.callers.find(secret))?.workspace.slug).toBe('default');
    expect(await limits()).toEqual({
      key: [{ window: 'lifetime', nanos: 2_000_000_000n, countsByok: false }],
      workspace: [],
    });
    await under.keys.update(key.accountId, key.hash, { limit: null });
    expect((await limits())?.key).toEqual([]);
    await under.budgets.set(...place, 'daily', { limit_usd: 1, include_byok_in_budgets: true });
    expect((await limits())?.workspace).toEqual([
      { window: 'daily', nanos: 1_000_000_000n, countsByok: true },
    ]);
    await under.budgets.delete(...place, 'daily');
    expect((await limits())?.workspace).toEqual([]);
    await under.workspaces.update(...place, { is_observability_io_logging_enabled: true });
    expect((await under.callers.find(secret))?.workspace.isObservabilityIoLoggingEnabled).toBe(true);
    await under.keys.update(key.accountId, key.hash, { disabled: true });
    expect(await under.callers.find(secret)).toBeUndefined();
  });

  it('does not remember a key that was revoked while it was being read', async () => {
    const { key, secret } = await under.keys.issue({ name: 'n' });
    const reading = under.callers.find(secret);
    await under.tenancy.deleteKey(key.hash);
    under.callers.forget({ kind: 'key', hash: key.hash });
    await reading;
    expect(await under.callers.find(secret)).toBeUndefined();
  });

  it('refuses an expired and a disabled key', async () => {
    const expiring = await under.keys.issue({
      name: 'n',
      expires_at: new Date(under.sources.clock.now() + 1000).toISOString(),
    });
    expect((await under.callers.find(expiring.secret))?.key).toEqual(expiring.key);
    under.time.advance(1000);
    expect(await under.callers.find(expiring.secret)).toBeUndefined();
    await under.tenancy.insertKey({
      ...expiring.key,
      hash: hashSecret('off'),
      expiresAtMs: null,
      disabled: true,
    });
    expect(await under.callers.find('off')).toBeUndefined();
  });
});

describe('bootstrap', () => {
  it('makes one account, a management key and an API key, once', async () => {
    const first = await bootstrap(under, {});
    expect(first?.managementKey).toMatch(/^sk-sb-v1-[0-9a-f]{64}$/);
    expect((await under.callers.find(first!.managementKey))?.key.isManagement).toBe(true);
    expect((await under.callers.find(first!.apiKey))?.key.isManagement).toBe(false);
    expect((await under.accounts.list()).map(({ name }) => name)).toEqual(['default']);
    expect(await bootstrap(under, {})).toBeUndefined();
    expect(await under.keys.listAll()).toHaveLength(2);
  });

  it('makes no new keys after all were revoked', async () => {
    await bootstrap(under, {});
    for (const { hash } of await under.keys.listAll()) await under.keys.revoke(hash);
    expect(await bootstrap(under, {})).toBeUndefined();
    expect(await under.keys.listAll()).toEqual([]);
  });

  it('takes the given keys, as often as it is started, and makes no others', async () => {
    const given = { managementKey: 'given-management', apiKey: 'given-api' };
    expect(await bootstrap(under, given)).toBeUndefined();
    expect(await bootstrap(under, given)).toBeUndefined();
    expect(await under.keys.listAll()).toHaveLength(2);
    expect((await under.callers.find('given-management'))?.key.isManagement).toBe(true);
    expect((await under.callers.find('given-api'))?.key.isManagement).toBe(false);
  });

  it('refuses a given key that exists as the other kind', async () => {
    await bootstrap(under, { apiKey: 'one-secret' });
    await expect(bootstrap(under, { managementKey: 'one-secret' })).rejects.toThrow('already is a plain key');
  });

  it('still makes the first keys when commands came before the first start', async () => {
    await under.keys.issue({ name: 'early' });
    expect(await bootstrap(under, {})).toBeDefined();
  });
});

describe('the first grant', () => {
  it('goes to every new account, once', async () => {
    await under.close();
    under = await openTestInstallation(5.5);
    await bootstrap(under, {});
    const [first] = await under.accounts.list();
    const second = await under.accounts.create('second');
    for (const id of [first!.id, second.id]) {
      expect(await under.credits.of(id)).toEqual({ usedNanos: 0n, leftNanos: 5_500_000_000n });
    }
    await under.credits.set(first!.id, 1n);
    await bootstrap(under, {});
    expect((await under.credits.of(first!.id)).leftNanos).toBe(1n);
  });

  it('is not made if none is configured', async () => {
    await bootstrap(under, {});
    const [first] = await under.accounts.list();
    expect(await under.credits.of(first!.id)).toEqual({ usedNanos: 0n, leftNanos: null });
  });
});

describe('the data directory', () => {
  it('is for its owner only, and so are the secrets in it', () => {
    expect(statSync(under.dataDir).mode & 0o777).toBe(0o700);
    for (const name of ['hash-key', 'encryption-key', 'lock', 'signalbox.sqlite']) {
      expect([name, statSync(join(under.dataDir, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    expect(under.directory.hashKey).toHaveLength(32);
    expect(readFileSync(join(under.dataDir, 'encryption-key'), 'utf8')).toBe(
      `${under.directory.encryptionKeys.key.toString('base64')}\n`,
    );
  });
});
