import { describe, expect, it } from 'vitest';
import { assignmentOf, guardrailOf } from '../../../test/builders/guardrails.ts';
import { HandClock } from '../../../test/fakes/hand-clock.ts';
import { accountGuardrailId, workspaceGuardrailId } from '../../contract/guardrails/default-guardrail-ids.ts';
import { type Guardrail, type GuardrailAssignment, NO_GUARDRAILS } from '../../ports/guardrails.ts';
import type { Key, Tenancy, Workspace } from '../../ports/tenancy.ts';
import { CallerDirectory } from './caller-directory.ts';
import { hashSecret } from './hash-secret.ts';

/** A store without guardrails. */
const UNGUARDED = { listAll: async () => [], assignmentsOf: async () => [] };

const SECRET = 'sk-of-somebody';

describe('CallerDirectory, while the database is unavailable', () => {
  const open = (isShared = true) => {
    const clock = new HandClock();
    const key = {
      hash: hashSecret(SECRET),
      accountId: 'a',
      workspaceId: 'w',
      disabled: false,
      expiresAtMs: null,
      limitNanos: null,
    } as Key;
    const state = { isAway: false, key: key as Key | undefined };
    const tenancy = {
      async findKey(hash: string) {
        if (state.isAway) throw new Error('away');
        return hash === state.key?.hash ? state.key : undefined;
      },
      findWorkspaceById: async () => ({ id: 'w', includeByokInBudgets: false }) as Workspace,
      listBudgets: async () => [],
    } as unknown as Tenancy;
    return { clock, state, callers: new CallerDirectory(tenancy, UNGUARDED, clock, isShared) };
  };

  it('accepts known callers for five minutes, and rejects look-ups of others', async () => {
    const { clock, state, callers } = open();
    expect(await callers.find(SECRET)).toMatchObject({ accountId: 'a' });
    state.isAway = true;
    await expect(callers.find('sk-of-nobody')).rejects.toThrow('away');
    clock.pass(299_000);
    expect(await callers.find(SECRET)).toMatchObject({ accountId: 'a' });
    clock.pass(2_000);
    await expect(callers.find(SECRET)).rejects.toThrow('away');
  });

  it('never falls back to a caller that was changed or deleted', async () => {
    const { clock, state, callers } = open();
    await callers.find(SECRET);
    callers.forget({ kind: 'key', hash: hashSecret(SECRET) });
    state.isAway = true;
    await expect(callers.find(SECRET)).rejects.toThrow('away');
    state.isAway = false;
    await callers.find(SECRET);
    state.key = undefined;
    clock.pass(6_000);
    expect(await callers.find(SECRET)).toBeUndefined();
    state.isAway = true;
    await expect(callers.find(SECRET)).rejects.toThrow('away');
  });

  it('rereads callers of a shared database, and of an embedded one only after a change of our own', async () => {
    const shared = open();
    await shared.callers.find(SECRET);
    shared.state.key = undefined;
    shared.clock.pass(6_000);
    expect(await shared.callers.find(SECRET)).toBeUndefined();

    const { clock, state, callers } = open(false);
    await callers.find(SECRET);
    state.key = undefined;
    clock.pass(6_000);
    expect(await callers.find(SECRET)).toBeDefined();
    callers.forget({ kind: 'key', hash: hashSecret(SECRET) });
    expect(await callers.find(SECRET)).toBeUndefined();
  });

  it('forgets at once, however often a caller came before', async () => {
    const { clock, state, callers } = open();
    for (let time = 0; time < 3; time++) expect(await callers.find(SECRET)).toMatchObject({ accountId: 'a' });
    state.key = undefined;
    callers.forget({ kind: 'key', hash: hashSecret(SECRET) });
    expect(await callers.find(SECRET)).toBeUndefined();
    state.key = { hash: hashSecret(SECRET), disabled: false, expiresAtMs: null, limitNanos: null } as Key;
    for (let time = 0; time < 3; time++) expect(await callers.find(SECRET)).toBeDefined();
    state.key = undefined;
    callers.forget({ kind: 'workspace', id: 'another' });
    expect(await callers.find(SECRET)).toBeDefined();
    clock.pass(5_000);
    expect(await callers.find(SECRET)).toBeUndefined();
  });
});

describe('CallerDirectory, with many callers of a workspace', () => {
  const open = (isShared: boolean) => {
    const clock = new HandClock();
    const state = { reads: 0, limitNanos: 5n, isAway: false };
    const tenancy = {
      findKey: async (hash: string) =>
        ({ hash, accountId: 'a', workspaceId: 'w', expiresAtMs: null, limitNanos: null }) as Key,
      async findWorkspaceById() {
        state.reads++;
        if (state.isAway) throw new Error('away');
        return { id: 'w', accountId: 'a', includeByokInBudgets: false } as Workspace;
      },
      listBudgets: async () => [{ window: 'daily', limitNanos: state.limitNanos }],
    } as unknown as Tenancy;
    const callers = new CallerDirectory(tenancy, UNGUARDED, clock, isShared);
    const budgetOf = async (secret: string) => (await callers.find(secret))?.limits.workspace[0]?.nanos;
    return { clock, state, callers, budgetOf };
  };

  it('reads the workspace once for all of them, also for those that come at once', async () => {
    const { state, callers, budgetOf } = open(false);
    expect(await Promise.all(['one', 'two'].map(budgetOf))).toEqual([5n, 5n]);
    expect(await budgetOf('three')).toBe(5n);
    expect(state.reads).toBe(1);
    const [one, two] = [await callers.find('one'), await callers.find('two')];
    expect(one?.key.hash).not.toBe(two?.key.hash);
    expect(one?.workspace).toBe(two?.workspace);
  });

  it('sees a change of this process at once, and one of another process within the cache time', async () => {
    const here = open(false);
    await here.budgetOf('one');
    here.state.limitNanos = 6n;
    here.callers.forget({ kind: 'workspace', id: 'w' });
    expect(await here.budgetOf('one')).toBe(6n);

    const { clock, state, budgetOf } = open(true);
    await budgetOf('one');
    state.limitNanos = 6n;
    clock.pass(4_000);
    expect(await budgetOf('two')).toBe(5n);
    clock.pass(1_500);
    expect(await Promise.all(['one', 'two'].map(budgetOf))).toEqual([6n, 6n]);
  });

  it('tries again after a failure', async () => {
    const { state, budgetOf } = open(false);
    state.isAway = true;
    await expect(budgetOf('one')).rejects.toThrow('away');
    state.isAway = false;
    expect(await budgetOf('one')).toBe(5n);
  });
});

describe('CallerDirectory, with guardrails', () => {
  const open = (isShared: boolean) => {
    const clock = new HandClock();
    const state = { guardrails: [] as Guardrail[], assignments: [] as GuardrailAssignment[], reads: 0 };
    const tenancy = {
      findKey: async (hash: string) =>
        ({
          hash,
          accountId: 'a',
          workspaceId: 'w',
          creatorUserId: 'm',
          expiresAtMs: null,
          limitNanos: null,
        }) as Key,
      findWorkspaceById: async () => ({ id: 'w', accountId: 'a' }) as Workspace,
      listBudgets: async () => [],
    } as unknown as Tenancy;
    const guardrails = {
      listAll: async () => state.guardrails,
      async assignmentsOf() {
        state.reads++;
        return state.assignments;
      },
    };
    const callers = new CallerDirectory(tenancy, guardrails, clock, isShared);
    const scopesOf = async (secret: string) =>
      (await callers.find(secret))?.guardrails.map(({ guardrail, scope }) => `${scope} ${guardrail.name}`);
    return { clock, state, callers, scopesOf };
  };
  const all = [
    guardrailOf({ id: 'g', name: 'one' }),
    guardrailOf({ id: accountGuardrailId('a'), name: 'account' }),
    guardrailOf({ id: workspaceGuardrailId('w'), name: 'workspace' }),
    guardrailOf({ id: workspaceGuardrailId('other'), name: 'of another workspace' }),
  ];

  it('gives callers without any the shared constant, and reads no assignments', async () => {
    const { state, callers } = open(false);
    expect((await callers.find('one'))?.guardrails).toBe(NO_GUARDRAILS);
    expect(state.reads).toBe(0);
  });

  it('applies the defaults, then that of the member, then that of the key', async () => {
    const { state, scopesOf } = open(false);
    state.guardrails = all;
    state.assignments = [assignmentOf(), assignmentOf({ kind: 'member' })].map((assignment) => ({
      ...assignment,
      guardrailId: 'g',
    }));
    expect(await scopesOf('one')).toEqual([
      'account account',
      'workspace workspace',
      'member one',
      'api-key one',
    ]);
  });

  it('sees a change of this process at once, and one of another process within the cache time', async () => {
    const here = open(false);
    expect(await here.scopesOf('one')).toEqual([]);
    here.state.guardrails = all;
    expect(await here.scopesOf('one')).toEqual([]);
    here.callers.forget({ kind: 'guardrails', accountId: 'a' });
    expect(await here.scopesOf('one')).toEqual(['account account', 'workspace workspace']);

    const { clock, state, scopesOf } = open(true);
    await scopesOf('one');
    state.guardrails = all;
    clock.pass(5_500);
    expect(await scopesOf('one')).toEqual(['account account', 'workspace workspace']);
  });

  it('keeps the objects of guardrails that did not change, so that nothing is compiled again', async () => {
    const { clock, state, callers } = open(true);
    state.guardrails = all;
    const before = (await callers.find('one'))?.guardrails[0]?.guardrail;
    state.guardrails = structuredClone(all);
    clock.pass(5_500);
    expect((await callers.find('one'))?.guardrails[0]?.guardrail).toBe(before);
  });
});
