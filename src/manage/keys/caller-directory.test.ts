import { describe, expect, it } from 'vitest';
import { assignmentOf, guardrailOf } from '../../../test/kit/builders/guardrails.ts';
import { HandChanges } from '../../../test/kit/fakes/hand-changes.ts';
import { HandClock } from '../../../test/kit/fakes/hand-clock.ts';
import { accountGuardrailId, workspaceGuardrailId } from '../../contract/guardrails/default-guardrail-ids.ts';
import {
  type Guardrail,
  type GuardrailAssignment,
  type GuardrailStore,
  NO_GUARDRAILS,
} from '../../ports/tenancy/guardrails.ts';
import type { Key, Tenancy, Workspace } from '../../ports/tenancy/tenancy.ts';
import { Freshness } from '../freshness.ts';
import { CallerDirectory } from './caller-directory.ts';
import { hashSecret } from './hash-secret.ts';

/** A store without guardrails. */
const UNGUARDED = { listAll: async () => [], assignmentsOf: async () => [] };

const SECRET = 'sk-of-somebody';

/** A directory that hears of changes. */
function directoryOf(
  tenancy: unknown,
  guardrails: Pick<GuardrailStore, 'listAll' | 'assignmentsOf'>,
  clock: HandClock,
) {
  const changes = new HandChanges(clock);
  const freshness = new Freshness(changes, clock);
  const callers = new CallerDirectory(tenancy as Tenancy, guardrails, clock, freshness);
  changes.subscribe((change) => callers.forget(change));
  return { callers, changes };
}

describe('CallerDirectory, with a key', () => {
  const changedKey = { kind: 'key', hash: hashSecret(SECRET) } as const;

  const open = () => {
    const clock = new HandClock();
    const key = {
      hash: hashSecret(SECRET),
      accountId: 'a',
      workspaceId: 'w',
      disabled: false,
      expiresAtMs: null,
      limitNanos: null,
    } as Key;
    const state = { isAway: false, key: key as Key | undefined, reads: 0 };
    const tenancy = {
      async findKey(hash: string) {
        state.reads++;
        if (state.isAway) throw new Error('away');
        return hash === state.key?.hash ? state.key : undefined;
      },
      findWorkspaceById: async () => ({ id: 'w', includeByokInBudgets: false }) as Workspace,
      listBudgets: async () => [],
    };
    const { callers, changes } = directoryOf(tenancy, UNGUARDED, clock);
    const setAway = (isAway: boolean) => {
      state.isAway = isAway;
      changes.isAway = isAway;
    };
    return { clock, state, callers, changes, setAway };
  };

  it('accepts known callers for five minutes while the store is away, and rejects look-ups of others', async () => {
    const { clock, callers, setAway } = open();
    expect(await callers.find(SECRET)).toMatchObject({ accountId: 'a' });
    setAway(true);
    await expect(callers.find('sk-of-nobody')).rejects.toThrow('away');
    clock.pass(299_000);
    expect(await callers.find(SECRET)).toMatchObject({ accountId: 'a' });
    clock.pass(2_000);
    await expect(callers.find(SECRET)).rejects.toThrow('away');
    setAway(false);
    expect(await callers.find(SECRET)).toMatchObject({ accountId: 'a' });
  });

  it('counts the five minutes from the last news of changes, not from the reading of the key', async () => {
    const { clock, callers, changes, setAway } = open();
    await callers.find(SECRET);
    clock.pass(3_600_000);
    await changes.catchUp();
    setAway(true);
    clock.pass(299_000);
    expect(await callers.find(SECRET)).toMatchObject({ accountId: 'a' });
  });

  it('never falls back to a caller that was changed or deleted', async () => {
    const { clock, state, callers, changes, setAway } = open();
    await callers.find(SECRET);
    callers.forget(changedKey);
    setAway(true);
    await expect(callers.find(SECRET)).rejects.toThrow('away');
    setAway(false);
    await callers.find(SECRET);
    state.key = undefined;
    changes.store(changedKey);
    clock.pass(1_000);
    expect(await callers.find(SECRET)).toBeUndefined();
    setAway(true);
    await expect(callers.find(SECRET)).rejects.toThrow('away');
  });

  it('asks for changes once a second at most, and reads no caller again that none concerns', async () => {
    const { clock, state, callers, changes } = open();
    await callers.find(SECRET);
    for (let second = 0; second < 10; second++) {
      clock.pass(1_000);
      for (let time = 0; time < 5; time++) expect(await callers.find(SECRET)).toBeDefined();
    }
    expect(state.reads).toBe(1);
    expect(changes.questions).toBe(10);
  });

  it('sees within a second that another process has deleted a key', async () => {
    const { clock, state, callers, changes } = open();
    await callers.find(SECRET);
    state.key = undefined;
    changes.store(changedKey);
    clock.pass(999);
    expect(await callers.find(SECRET)).toBeDefined();
    clock.pass(1);
    expect(await callers.find(SECRET)).toBeUndefined();
  });

  it('reads everything again after changes were missed', async () => {
    const { state, callers, changes } = open();
    await callers.find(SECRET);
    state.key = undefined;
    changes.publish({ kind: 'anything' });
    expect(await callers.find(SECRET)).toBeUndefined();
  });

  it('keeps what it knew before changes were missed while that cannot be read again, for five minutes', async () => {
    const { clock, state, callers, changes, setAway } = open();
    await callers.find(SECRET);
    changes.publish({ kind: 'anything' });
    setAway(true);
    expect(await callers.find(SECRET)).toMatchObject({ accountId: 'a' });
    clock.pass(299_000);
    changes.publish({ kind: 'anything' });
    expect(await callers.find(SECRET)).toMatchObject({ accountId: 'a' });
    clock.pass(1_000);
    await expect(callers.find(SECRET)).rejects.toThrow('away');
    setAway(false);
    state.key = undefined;
    expect(await callers.find(SECRET)).toBeUndefined();
  });

  it('keeps what it knew also if changes were missed again while that was read, but no disabled key', async () => {
    const { state, callers, changes, setAway } = open();
    await callers.find(SECRET);
    changes.publish({ kind: 'anything' });
    const reading = callers.find(SECRET);
    changes.publish({ kind: 'anything' });
    expect(await reading).toMatchObject({ accountId: 'a' });
    setAway(true);
    expect(await callers.find(SECRET)).toMatchObject({ accountId: 'a' });
    setAway(false);
    state.key = { ...(state.key as Key), disabled: true };
    const readingDisabled = callers.find(SECRET);
    changes.publish({ kind: 'anything' });
    expect(await readingDisabled).toBeUndefined();
    setAway(true);
    await expect(callers.find(SECRET)).rejects.toThrow('away');
  });

  it('never falls back to a caller that was missed once and is known to have changed since', async () => {
    const { callers, changes, setAway } = open();
    await callers.find(SECRET);
    changes.publish({ kind: 'anything' });
    changes.publish(changedKey);
    setAway(true);
    await expect(callers.find(SECRET)).rejects.toThrow('away');
  });

  it('forgets at once, however often a caller came before, and only what was changed', async () => {
    const { state, callers } = open();
    for (let time = 0; time < 3; time++) expect(await callers.find(SECRET)).toMatchObject({ accountId: 'a' });
    state.key = undefined;
    callers.forget(changedKey);
    expect(await callers.find(SECRET)).toBeUndefined();
    state.key = { hash: hashSecret(SECRET), disabled: false, expiresAtMs: null, limitNanos: null } as Key;
    for (let time = 0; time < 3; time++) expect(await callers.find(SECRET)).toBeDefined();
    state.key = undefined;
    callers.forget({ kind: 'workspace', id: 'another' });
    callers.forget({ kind: 'credentials', accountId: 'a' });
    callers.forget({ kind: 'imported-usage' });
    expect(await callers.find(SECRET)).toBeDefined();
  });
});

describe('CallerDirectory, with many callers of a workspace', () => {
  const open = () => {
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
    };
    const { callers, changes } = directoryOf(tenancy, UNGUARDED, clock);
    const budgetOf = async (secret: string) => (await callers.find(secret))?.limits.workspace[0]?.nanos;
    return { clock, state, callers, changes, budgetOf };
  };

  it('reads the workspace once for all of them, also for those that come at once', async () => {
    const { state, callers, budgetOf } = open();
    expect(await Promise.all(['one', 'two'].map(budgetOf))).toEqual([5n, 5n]);
    expect(await budgetOf('three')).toBe(5n);
    expect(state.reads).toBe(1);
    const [one, two] = [await callers.find('one'), await callers.find('two')];
    expect(one?.key.hash).not.toBe(two?.key.hash);
    expect(one?.workspace).toBe(two?.workspace);
  });

  it('sees a change of this process at once, and one of another process within a second', async () => {
    const here = open();
    await here.budgetOf('one');
    here.state.limitNanos = 6n;
    here.callers.forget({ kind: 'workspace', id: 'w' });
    expect(await here.budgetOf('one')).toBe(6n);

    const { clock, state, changes, budgetOf } = open();
    await budgetOf('one');
    state.limitNanos = 6n;
    changes.store({ kind: 'workspace', id: 'w' });
    clock.pass(900);
    expect(await budgetOf('two')).toBe(5n);
    clock.pass(100);
    expect(await Promise.all(['one', 'two'].map(budgetOf))).toEqual([6n, 6n]);
  });

  it('tries again after a failure', async () => {
    const { state, budgetOf } = open();
    state.isAway = true;
    await expect(budgetOf('one')).rejects.toThrow('away');
    state.isAway = false;
    expect(await budgetOf('one')).toBe(5n);
  });
});

describe('CallerDirectory, with guardrails', () => {
  const open = () => {
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
    };
    const guardrails = {
      listAll: async () => state.guardrails,
      async assignmentsOf() {
        state.reads++;
        return state.assignments;
      },
    };
    const { callers, changes } = directoryOf(tenancy, guardrails, clock);
    const scopesOf = async (secret: string) =>
      (await callers.find(secret))?.guardrails.map(({ guardrail, scope }) => `${scope} ${guardrail.name}`);
    return { clock, state, callers, changes, scopesOf };
  };
  const all = [
    guardrailOf({ id: 'g', name: 'one' }),
    guardrailOf({ id: accountGuardrailId('a'), name: 'account' }),
    guardrailOf({ id: workspaceGuardrailId('w'), name: 'workspace' }),
    guardrailOf({ id: workspaceGuardrailId('other'), name: 'of another workspace' }),
  ];

  it('gives callers without any the shared constant, and reads no assignments', async () => {
    const { state, callers } = open();
    expect((await callers.find('one'))?.guardrails).toBe(NO_GUARDRAILS);
    expect(state.reads).toBe(0);
  });

  it('applies the defaults, then that of the member, then that of the key', async () => {
    const { state, scopesOf } = open();
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

  it('sees a change of this process at once, and one of another process within a second', async () => {
    const here = open();
    expect(await here.scopesOf('one')).toEqual([]);
    here.state.guardrails = all;
    expect(await here.scopesOf('one')).toEqual([]);
    here.callers.forget({ kind: 'guardrails', accountId: 'a' });
    expect(await here.scopesOf('one')).toEqual(['account account', 'workspace workspace']);

    const { clock, state, changes, scopesOf } = open();
    await scopesOf('one');
    state.guardrails = all;
    changes.store({ kind: 'guardrails', accountId: 'a' });
    clock.pass(1_000);
    expect(await scopesOf('one')).toEqual(['account account', 'workspace workspace']);
  });

  it('keeps the objects of guardrails that did not change, so that nothing is compiled again', async () => {
    const { state, callers } = open();
    state.guardrails = all;
    const before = (await callers.find('one'))?.guardrails[0]?.guardrail;
    state.guardrails = structuredClone(all);
    callers.forget({ kind: 'guardrails', accountId: 'a' });
    expect((await callers.find('one'))?.guardrails[0]?.guardrail).toBe(before);
  });
});
