import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Session, SessionOwner, SessionStore } from '../../../src/ports/tenancy/sessions.ts';
import type { Tenancy } from '../../../src/ports/tenancy/tenancy.ts';
import { workspaceOf } from '../../kit/builders/tenancy.ts';

/** An adapter under test, with the tenancy that its sessions belong to, and how to close both. */
export interface SessionStoreUnderTest {
  readonly sessions: SessionStore;
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const MAX_OF_KEY = 3;

const session = (id: string, more: Partial<Session> = {}): Session => ({
  id,
  accountId: 'a',
  keyHash: 'key',
  createdAtMs: 10,
  lastSeenAtMs: 10,
  expiresAtMs: 1_000,
  userAgent: null,
  address: '127.0.0.1',
  ...more,
});

/** What every SessionStore must do. `open` gives an empty one each time. */
export function sessionStoreContract(name: string, open: () => Promise<SessionStoreUnderTest>): void {
  describe(`SessionStore: ${name}`, () => {
    let under: SessionStoreUnderTest;
    let sessions: SessionStore;

    beforeEach(async () => {
      under = await open();
      sessions = under.sessions;
      for (const id of ['a', 'b']) {
        await under.tenancy.createAccount(
          { id, name: id, createdAtMs: 1 },
          workspaceOf({ id: `${id}-default`, accountId: id }),
        );
      }
    });

    afterEach(() => under.close());

    const create = (id: string, more: Partial<Session> = {}) =>
      sessions.create(session(id, more), `token of ${id}`, MAX_OF_KEY);
    const idsOf = async (owner: SessionOwner = { accountId: 'a' }, limit = 100) =>
      (await sessions.list(owner, 500, limit)).map(({ id }) => id);

    it('finds a session by its token until it expires or is deleted', async () => {
      const one = session('one', { userAgent: 'a browser' });
      await sessions.create(one, 'token', MAX_OF_KEY);
      await sessions.noteSeen('one', 70);
      expect(await sessions.find('token', 999)).toEqual({ ...one, lastSeenAtMs: 70 });
      expect(await sessions.find('token', 1_000)).toBeUndefined();
      expect(await sessions.find('another token', 500)).toBeUndefined();
      expect(await sessions.delete({ accountId: 'b' }, 'one')).toBe(false);
      expect(await sessions.delete({ accountId: 'a', keyHash: 'other' }, 'one')).toBe(false);
      expect(await sessions.delete({ accountId: 'a', keyHash: 'key' }, 'one')).toBe(true);
      expect(await sessions.find('token', 500)).toBeUndefined();
    });

    it('lists the newest of an account or of a key', async () => {
      await create('old', { createdAtMs: 10 });
      await create('new', { createdAtMs: 30 });
      await create('other', { createdAtMs: 20, keyHash: 'other' });
      await create('theirs', { createdAtMs: 40, accountId: 'b' });
      await create('expired', { createdAtMs: 50, expiresAtMs: 400, keyHash: 'third' });
      expect(await idsOf()).toEqual(['new', 'other', 'old']);
      expect(await idsOf({ accountId: 'a', keyHash: 'key' })).toEqual(['new', 'old']);
      expect(await idsOf({ accountId: 'a' }, 2)).toEqual(['new', 'other']);
    });

    it('removes the oldest of a key that has too many, and never the new one', async () => {
      await create('other', { keyHash: 'other' });
      for (const at of [40, 10, 30, 20]) await create(`at ${at}`, { createdAtMs: at });
      expect(await idsOf({ accountId: 'a', keyHash: 'key' })).toEqual(['at 40', 'at 30', 'at 20']);
      await create('late', { createdAtMs: 5 });
      expect(await idsOf()).toEqual(['at 40', 'at 30', 'other', 'late']);
      expect(await sessions.find('token of at 20', 500)).toBeUndefined();
    });

    it('has no more than the most of a key after sign-ins at the same time', async () => {
      await Promise.all(Array.from({ length: 12 }, (_, index) => create(`racing ${index}`)));
      const { length } = await idsOf();
      expect(length).toBeGreaterThan(0);
      expect(length).toBeLessThanOrEqual(MAX_OF_KEY);
    });
  });
}
