import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FollowerRefuses, FollowerWaits } from '../../../src/ports/following/follower.ts';
import { type FollowersUnderTest, followersForTests, RecordingFollower } from './followers-under-test.ts';

const open = followersForTests();

describe('followers of settled generations', () => {
  let under: FollowersUnderTest;

  beforeEach(async () => {
    under = await open();
  });

  afterEach(() => under.close());

  const ids = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => `g${String(from + index).padStart(5, '0')}`);

  /** Opens a follower, and waits until it is followed. */
  const follow = async (follower = new RecordingFollower('f')) => {
    under.followers.push(follower);
    under.changed();
    await expect.poll(async () => (await under.notes.listAll()).has(follower.id)).toBe(true);
    return follower;
  };

  it('get each generation of their workspace once, in batches, also after a restart', async () => {
    const first = under.open();
    const follower = await follow();
    await under.settle(...ids(0, 25));
    await under.settleIn('x', ['other']);
    await expect.poll(() => follower.taken.length).toBe(25);
    await first.close();
    await under.settle(...ids(25, 30));
    const second = under.open();
    await expect.poll(() => follower.taken.length).toBe(30);
    expect(follower.taken).toEqual(ids(0, 30));
    expect(Math.max(...follower.batches.map(({ length }) => length))).toBe(10);
    await expect
      .poll(() => second.running)
      .toMatchObject([{ id: 'f', taken: 30, dropped: 0, problem: null }]);
    expect(under.lines).toEqual([]);
  });

  it('get what was settled since they exist, though they are noticed later', async () => {
    under.open();
    await follow(new RecordingFollower('other', { workspaceId: 'x' }));
    await under.settle('before');
    under.clock.pass(10);
    const follower = new RecordingFollower('f', { sinceMs: under.clock.now() });
    under.clock.pass(10);
    await under.settle('between');
    await follow(follower);
    await under.settle('after');
    await expect.poll(() => follower.taken).toEqual(['between', 'after']);
  });

  it('are not given what was settled before they began, though its row comes later', async () => {
    under.open();
    await follow(new RecordingFollower('f', { sinceMs: under.clock.now() + 10 }));
    await under.settle('before');
    under.clock.pass(10);
    await under.settle('after');
    const [follower] = under.followers as [RecordingFollower];
    await expect.poll(() => follower.taken).toEqual(['after']);
  });

  it('hold up no other: one hangs, one fails', async () => {
    const following = under.open();
    const hangs = new RecordingFollower('hangs');
    hangs.before = (_, signal) => new Promise((_, reject) => signal.addEventListener('abort', reject));
    const fails = new RecordingFollower('fails');
    fails.before = async () => Promise.reject(new FollowerWaits('status 500'));
    for (const each of [hangs, fails]) await follow(each);
    const works = await follow();
    await under.settle(...ids(0, 3));
    await expect.poll(() => works.taken).toEqual(ids(0, 3));
    await under.settle(...ids(3, 6));
    await expect.poll(() => works.taken).toEqual(ids(0, 6));
    await expect
      .poll(() => following.running.find(({ id }) => id === 'fails'))
      .toMatchObject({ taken: 0, problem: 'status 500', waiting: 6, problemSinceMs: under.clock.now() });
  });

  it('are tried again after pauses that grow, or when they said; logged once, and once when they go on', async () => {
    under.open();
    let tries = 0;
    let failure: Error | undefined = new FollowerWaits('status 503');
    const follower = await follow();
    follower.before = async () => {
      tries++;
      if (failure !== undefined) throw failure;
    };
    await under.settle('a');
    await expect.poll(() => tries).toBe(1);
    under.clock.pass(499);
    await expect.poll(() => under.lines.length).toBe(1);
    under.clock.pass(1);
    await expect.poll(() => tries).toBe(2);
    failure = new FollowerWaits('status 429', { retryAfterMs: 60_000 });
    under.clock.pass(1_000);
    await expect.poll(() => tries).toBe(3);
    under.clock.pass(59_000);
    await expect.poll(async () => (await under.notes.listAll()).get('f')?.problem).toBe('status 429');
    expect(tries).toBe(3);
    failure = undefined;
    under.clock.pass(1_000);
    await expect.poll(() => follower.taken).toEqual(['a']);
    expect(under.lines.map(({ fields }) => fields)).toEqual([
      { follower: 'f', workspace_id: 'w', problem: 'status 503' },
      { follower: 'f', workspace_id: 'w', away_ms: 61_500 },
    ]);
  });

  it('are not given what they refuse again, and it is counted', async () => {
    const following = under.open();
    const follower = await follow();
    follower.before = async (batch) => {
      if (batch.includes('g00004')) throw new FollowerRefuses('status 400');
    };
    await under.settle(...ids(0, 8));
    await expect.poll(() => following.running).toMatchObject([{ taken: 7, dropped: 1 }]);
    expect(follower.taken).toEqual(ids(0, 8).filter((id) => id !== 'g00004'));
    await under.settle('last');
    await expect.poll(() => follower.taken.at(-1)).toBe('last');
    await expect.poll(() => following.running).toMatchObject([{ taken: 8, dropped: 1, problem: null }]);
  });

  it('leave out the oldest when they are too far behind, by age and by number', async () => {
    const following = under.open();
    const follower = new RecordingFollower('f');
    follower.bounds = { maxAgeMs: 60_000, maxGenerations: 5 };
    await follow(follower);
    let isAway = true;
    follower.before = async () => {
      if (isAway) throw new FollowerWaits('no answer');
    };
    await under.settle(...ids(0, 3));
    under.clock.pass(50_000);
    await under.settle(...ids(3, 10));
    await expect.poll(() => following.running).toMatchObject([{ dropped: 5, waiting: 5 }]);
    under.clock.pass(20_000);
    await under.settle('late');
    await expect.poll(() => following.running).toMatchObject([{ dropped: 6, waiting: 5 }]);
    under.clock.pass(50_000);
    isAway = false;
    await expect.poll(() => follower.taken).toEqual(['late']);
    await expect.poll(() => following.running).toMatchObject([{ taken: 1, dropped: 10, problem: null }]);
  });

  it('are given content once it must be there, and it is removed when all have read it', async () => {
    under.open();
    const [one, other] = [new RecordingFollower('one'), new RecordingFollower('other')];
    for (const each of [one, other]) {
      each.readsContent = true;
      await follow(each);
    }
    let isAway = true;
    other.before = async () => {
      if (isAway) throw new FollowerWaits('no answer');
    };
    const plain = await follow(new RecordingFollower('plain'));
    await under.settle('a');
    await expect.poll(() => plain.taken).toEqual(['a']);
    expect(one.taken).toEqual([]);
    const content = { input: {}, output: { completion: 'hello', reasoning: null }, error: null };
    const spool = under.spool();
    spool.put({ generationId: 'a', accountId: 'a', workspaceId: 'w', content });
    await spool.close();
    under.clock.pass(2_000);
    await expect.poll(() => one.contents.get('a')).toEqual(content);
    const kept = async () => (await under.spool().find(['a'], 1e6)).contents.size;
    expect(await kept()).toBe(1);
    isAway = false;
    under.clock.pass(30_000);
    await expect.poll(() => other.contents.get('a')).toEqual(content);
    await expect.poll(kept).toBe(0);
    expect(plain.contents.get('a')).toBeUndefined();
  });

  it('are not asked again and again while generations are too young', async () => {
    under.open({ everyMs: 1e9 });
    const follower = await follow(new RecordingFollower('f', { readsContent: true }));
    await under.settle('a');
    const before = under.passes;
    under.changed();
    await expect.poll(() => under.passes).toBe(before + 1);
    // Time for passes that nothing asks for.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(under.passes).toBe(before + 1);
    under.clock.pass(2_000);
    under.changed();
    await expect.poll(() => follower.taken).toEqual(['a']);
  });

  it('rest as long as they want although younger generations are held', async () => {
    under.open();
    const follower = await follow(new RecordingFollower('f', { readsContent: true, restMs: 10_000 }));
    const plain = await follow(new RecordingFollower('plain'));
    await under.settle('a');
    // It may have been looked at already, too young: then it rests until now and a second.
    under.clock.pass(9_000);
    await under.settle('b');
    under.clock.pass(1_000);
    await expect.poll(() => follower.taken).toEqual(['a']);
    under.clock.pass(2_000);
    for (const marker of ['c', 'd']) {
      await under.settle(marker);
      await expect.poll(() => plain.taken.at(-1)).toBe(marker);
    }
    expect(follower.taken).toEqual(['a']);
    under.clock.pass(10_000);
    await expect.poll(() => follower.taken).toEqual(['a', 'b', 'c', 'd']);
  });

  it('are changed without losing their place, and forgotten when they are gone', async () => {
    const following = under.open();
    const first = await follow();
    await under.settle('a');
    await expect.poll(() => first.taken).toEqual(['a']);
    const second = new RecordingFollower('f', { version: '2' });
    under.followers.splice(0, 1, second);
    under.changed();
    await expect.poll(() => following.running.length).toBe(1);
    await under.settle('b');
    await expect.poll(() => [...first.taken, ...second.taken]).toEqual(['a', 'b']);
    under.followers.splice(0);
    under.changed();
    await expect.poll(async () => (await under.notes.listAll()).size).toBe(0);
    await under.settle('c');
    const again = new RecordingFollower('f', { sinceMs: under.clock.now() + 1 });
    await follow(again);
    under.clock.pass(1);
    await under.settle('d');
    await expect.poll(() => again.taken).toEqual(['d']);
  });

  it('are tried at once when their settings change, however long they asked to be left alone', async () => {
    under.open();
    const first = await follow();
    let tries = 0;
    first.before = async () => {
      tries++;
      throw new FollowerWaits('status 429', { retryAfterMs: 3_600_000 });
    };
    await under.settle('a');
    await expect.poll(() => tries).toBe(1);
    await expect.poll(async () => (await under.notes.listAll()).get('f')?.problem).toBe('status 429');
    const same = new RecordingFollower('f');
    under.followers.splice(0, 1, same);
    under.changed();
    const other = await follow(new RecordingFollower('other'));
    await expect.poll(() => other.taken).toEqual(['a']);
    expect(same.taken).toEqual([]);
    const mended = new RecordingFollower('f', { version: '2' });
    under.followers.splice(0, 1, mended);
    under.changed();
    await expect.poll(() => mended.taken).toEqual(['a']);
    expect(tries).toBe(1);
  });

  it('are given fewer at once while they do not answer in time, and then more again', async () => {
    under.open();
    const follower = await follow();
    const asked: number[] = [];
    follower.before = async ({ length }) => {
      asked.push(length);
      if (length > 2) throw new FollowerWaits('no answer', { fault: 'late' });
    };
    await under.settle(...ids(0, 20));
    for (let failures = 1; failures <= 4; failures++) {
      await expect.poll(() => asked.length).toBe(failures);
      under.clock.pass(30_000);
    }
    await expect.poll(() => asked).toEqual([10, 10, 5, 3, 2, 4]);
    expect(follower.taken).toEqual(ids(0, 2));
    follower.before = async ({ length }) => void asked.push(length);
    under.clock.pass(30_000);
    await expect.poll(() => follower.taken).toEqual(ids(0, 20));
    expect(Math.max(...asked.slice(6))).toBeGreaterThan(2);
  });

  it('leave out a generation with which they go on failing while they take others', async () => {
    const following = under.open();
    const follower = await follow(new RecordingFollower('f', { batchSize: 500 }));
    let asked = 0;
    follower.before = async (batch) => {
      asked++;
      if (batch.includes('g00013')) throw new FollowerWaits('status 500', { fault: 'failed' });
    };
    await under.settle(...ids(0, 40));
    const all = ids(0, 40).filter((id) => id !== 'g00013');
    await expect
      .poll(() => {
        under.clock.pass(30_000);
        return follower.taken.length;
      })
      .toBe(all.length);
    expect([...follower.taken].sort()).toEqual(all);
    expect(asked).toBeLessThan(25);
    await expect.poll(() => following.running).toMatchObject([{ taken: 39, dropped: 1, problem: null }]);
    const left = under.lines.filter(({ fields }) => fields?.generation_id !== undefined);
    expect(left.map(({ fields }) => [fields?.generation_id, fields?.problem])).toEqual([
      ['g00013', 'status 500'],
    ]);
  });

  it('lose nothing while they answer everything with a fault for a day', async () => {
    const following = under.open();
    const follower = await follow();
    let tries = 0;
    follower.before = async () => {
      tries++;
      throw new FollowerWaits('status 500', { fault: 'failed' });
    };
    await under.settle(...ids(0, 40));
    for (let passed = 0; passed < 60; passed++) {
      const before = tries;
      under.clock.pass(1_000_000);
      await expect.poll(() => tries).toBeGreaterThan(before);
    }
    follower.before = async () => {};
    under.clock.pass(30_000);
    await expect.poll(() => following.running).toMatchObject([{ taken: 40, dropped: 0, problem: null }]);
    expect([...follower.taken].sort()).toEqual(ids(0, 40));
  });

  it('are not forgotten by a gateway that has not heard of them when its turn comes', async () => {
    const early = new RecordingFollower('early');
    under.followers.push(early);
    let hasTurn = false;
    let asked = 0;
    under.open({
      takeTurn: async () => {
        asked++;
        return hasTurn;
      },
    });
    await expect.poll(() => asked).toBe(1);
    const first = under.open();
    const follower = await follow();
    await under.settle('a');
    await expect.poll(() => [...early.taken, ...follower.taken]).toEqual(['a', 'a']);
    await first.close();
    hasTurn = true;
    await under.settle('b');
    under.clock.pass(10_000);
    await expect.poll(() => follower.taken).toEqual(['a', 'b']);
    await expect.poll(() => early.taken).toEqual(['a', 'b']);
  });

  it('resend nothing after an orderly stop, which waits for the batch under way', async () => {
    const first = under.open();
    const follower = await follow();
    let release = () => {};
    let calls = 0;
    follower.before = () =>
      new Promise((resolve) => {
        calls++;
        release = resolve;
      });
    await under.settle(...ids(0, 15));
    await expect.poll(() => calls).toBe(1);
    const closed = first.close();
    release();
    await closed;
    expect(follower.taken).toEqual(ids(0, 10));
    follower.before = async () => {};
    under.open();
    await expect.poll(() => follower.taken).toEqual(ids(0, 15));
  });

  it('get an unfinished batch again when the process was killed in the middle of it', async () => {
    under.open();
    const follower = await follow();
    let calls = 0;
    follower.before = async () => {
      // The process ends after the destination has it, before it is noted.
      if (++calls === 2) await new Promise(() => {});
    };
    await under.settle(...ids(0, 15));
    await expect.poll(() => calls).toBe(2);
    under.open();
    await expect.poll(() => follower.taken).toEqual(ids(0, 15));
    expect(calls).toBe(3);
  });
});
