import { beforeEach, describe, expect, it } from 'vitest';
import { newCredentialOf } from '../../../test/kit/builders/byok.ts';
import { callerOf as builtCaller } from '../../../test/kit/builders/tenancy.ts';
import { HandChanges } from '../../../test/kit/fakes/hand-changes.ts';
import { HandClock } from '../../../test/kit/fakes/hand-clock.ts';
import type { ByokStore, StoredByokCredential } from '../../ports/tenancy/byok.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import type { Key } from '../../ports/tenancy/tenancy.ts';
import { Freshness } from '../freshness.ts';
import { ByokDirectory } from './byok-directory.ts';
import type { Vault } from './vault.ts';

const HASH = 'a'.repeat(64);

const callerOf = (key: Partial<Key> = {}, workspaceId = 'w1') =>
  builtCaller({ hash: HASH, workspaceId, ...key });

const credential = (id: string, more: Partial<StoredByokCredential> = {}): StoredByokCredential => ({
  ...newCredentialOf({ id, workspaceId: 'w1', encryptedSecret: `encrypted ${id}`, version: 3 }),
  sortOrder: 0,
  ...more,
});

let stored: StoredByokCredential[];
let reads: number;
let clock: HandClock;
let changes: HandChanges;
let decrypted: string[];
let directory: ByokDirectory;

beforeEach(() => {
  stored = [];
  reads = 0;
  clock = new HandClock();
  changes = new HandChanges(clock);
  decrypted = [];
  const store = {
    listAll: async () => {
      reads++;
      if (changes.isAway) throw new Error('away');
      return stored;
    },
  } as unknown as ByokStore;
  const vault = {
    decrypt: ({ encryptedSecret }: StoredByokCredential) => {
      decrypted.push(encryptedSecret);
      return encryptedSecret.replace('encrypted', 'secret');
    },
  } as unknown as Vault;
  directory = new ByokDirectory(store, vault, async () => {}, clock, new Freshness(changes, clock));
  changes.subscribe((change) => directory.forget(change));
});

const idsFor = async (caller: Caller) => (await directory.of(caller)).map(({ id }) => id);

describe('ByokDirectory', () => {
  it('gives what routing needs, in the order of the store, and decrypts only when asked', async () => {
    stored = [
      credential('1', { isFallback: true, declaredZdr: true, allowedModels: ['m'] }),
      credential('2', { provider: 'bolt', isRequired: true, isByokOnly: true, sortOrder: 4 }),
    ];
    const [one, two] = await directory.of(callerOf());
    expect(one).toMatchObject({ id: '1', isFallback: true, declaredZeroRetention: true, version: 3 });
    expect([...(one?.allowedModels ?? [])]).toEqual(['m']);
    expect(two).toMatchObject({ provider: 'bolt', isRequired: true, isByokOnly: true, sortOrder: 4 });
    expect(two?.allowedModels).toBeNull();
    expect(decrypted).toEqual([]);
    expect(one?.reveal()).toBe('secret 1');
    expect(decrypted).toEqual(['encrypted 1']);
  });

  it.each<[string, Partial<StoredByokCredential>, Caller, boolean]>([
    ['one that is switched off', { disabled: true }, callerOf(), false],
    ['its own workspace', { workspaceId: 'w1' }, callerOf(), true],
    ['another workspace', { workspaceId: 'w2' }, callerOf(), false],
    ['every workspace', { workspaceId: null }, callerOf({}, 'w9'), true],
    ['the right user', { allowedUserIds: ['u'] }, callerOf({ creatorUserId: 'u' }), true],
    ['another user', { allowedUserIds: ['u'] }, callerOf({ creatorUserId: 'v' }), false],
    ['a key without a creator', { allowedUserIds: ['u'] }, callerOf(), false],
    ['no user at all', { allowedUserIds: [] }, callerOf({ creatorUserId: 'u' }), false],
    ['the right key', { allowedApiKeyHashes: [HASH] }, callerOf(), true],
    ['another key', { allowedApiKeyHashes: [HASH] }, callerOf({ hash: 'b'.repeat(64) }), false],
    [
      'the right key of another user',
      { allowedApiKeyHashes: [HASH], allowedUserIds: ['u'] },
      callerOf({ creatorUserId: 'v' }),
      false,
    ],
  ])('filters credentials by caller: %s', async (_name, more, caller, fits) => {
    stored = [credential('1', more)];
    expect(await idsFor(caller)).toEqual(fits ? ['1'] : []);
  });

  it('keeps tokens for MCP servers from routing, and finds the first that fits the caller', async () => {
    stored = [
      credential('1', { provider: 'mcp:docs', allowedUserIds: ['u'] }),
      credential('2', { provider: 'mcp:docs' }),
      credential('3', { provider: 'mcp:mail' }),
      credential('4', { provider: 'mcp:off', disabled: true }),
    ];
    expect(await idsFor(callerOf())).toEqual([]);
    expect((await directory.tokenFor(callerOf({ creatorUserId: 'u' }), 'docs'))?.reveal()).toBe('secret 1');
    expect((await directory.tokenFor(callerOf(), 'docs'))?.reveal()).toBe('secret 2');
    expect(await directory.tokenFor(callerOf({}, 'w2'), 'docs')).toBeUndefined();
    expect(await directory.tokenFor(callerOf(), 'off')).toBeUndefined();
  });

  it('reads an account once for many requests at once, and again after another process has changed it', async () => {
    stored = [credential('1')];
    await Promise.all(Array.from({ length: 50 }, () => directory.of(callerOf())));
    clock.pass(600_000);
    await Promise.all(Array.from({ length: 50 }, () => directory.of(callerOf())));
    expect(reads).toBe(1);
    changes.store({ kind: 'credentials', accountId: 'account' });
    clock.pass(1_000);
    await directory.of(callerOf());
    expect(reads).toBe(2);
  });

  it('uses what it knows for five minutes while the store is away', async () => {
    stored = [credential('1')];
    await directory.of(callerOf());
    changes.isAway = true;
    clock.pass(299_000);
    expect(await idsFor(callerOf())).toEqual(['1']);
    clock.pass(2_000);
    await expect(idsFor(callerOf())).rejects.toThrow('away');
  });

  it('uses what it knew before changes were missed while that cannot be read again, for five minutes', async () => {
    stored = [credential('1')];
    await directory.of(callerOf());
    changes.publish({ kind: 'anything' });
    changes.isAway = true;
    expect(await idsFor(callerOf())).toEqual(['1']);
    clock.pass(299_000);
    expect(await idsFor(callerOf())).toEqual(['1']);
    clock.pass(1_000);
    await expect(idsFor(callerOf())).rejects.toThrow('away');
    changes.isAway = false;
    stored = [];
    expect(await idsFor(callerOf())).toEqual([]);
  });

  it.each([
    ['answers', false],
    ['fails', true],
  ])('uses it also if changes were missed again during a read that %s', async (_, isAway) => {
    stored = [credential('1')];
    await directory.of(callerOf());
    changes.publish({ kind: 'anything' });
    changes.isAway = isAway;
    const reading = idsFor(callerOf());
    changes.publish({ kind: 'anything' });
    expect(await reading).toEqual(['1']);
    changes.isAway = true;
    expect(await idsFor(callerOf())).toEqual(['1']);
  });

  it('gives an account that has none the same answer every time', async () => {
    await directory.of(callerOf());
    expect(await directory.of(callerOf())).toBe(await directory.of(callerOf({}, 'w2')));
    expect(reads).toBe(1);
    stored = [credential('1')];
    changes.publish({ kind: 'anything' });
    expect(await idsFor(callerOf())).toEqual(['1']);
  });

  it('sees a change at once, even one that came while it was reading', async () => {
    expect(await idsFor(callerOf())).toEqual([]);
    stored = [credential('1')];
    directory.forget({ kind: 'credentials', accountId: 'account' });
    const early = directory.of(callerOf());
    stored = [];
    directory.forget({ kind: 'credentials', accountId: 'account' });
    expect((await early).map(({ id }) => id)).toEqual(['1']);
    expect(await idsFor(callerOf())).toEqual([]);
  });

  it('reads again after a failure', async () => {
    const broken = new ByokDirectory(
      {
        listAll: async () => {
          if (reads++ === 0) throw new Error('no disk');
          return [];
        },
      } as unknown as ByokStore,
      {} as Vault,
      async () => {},
      clock,
      new Freshness(changes, clock),
    );
    await expect(broken.of(callerOf())).rejects.toThrow('no disk');
    expect(await broken.of(callerOf())).toEqual([]);
  });
});
