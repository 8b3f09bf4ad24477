import { describe, expect, it } from 'vitest';
import { ContentRoom } from './content-room.ts';

const NOW = () => Promise.resolve();

describe('room for content', () => {
  it('is shared by all requests, and refuses for now what it cannot hold', () => {
    const room = new ContentRoom();
    room.open(NOW).take(60, 100);
    room.open(NOW).take(40, 100);
    const late = room.open(NOW);
    expect(() => late.take(1, 100)).toThrow(
      expect.objectContaining({
        kind: 'overloaded',
        retryAfterSeconds: 1,
        message: expect.stringContaining('stored files of the requests in flight'),
      }),
    );
    expect(room.takenBytes).toBe(100);
  });

  it('is given back once, all of it', async () => {
    const room = new ContentRoom();
    const [one, other] = [room.open(NOW), room.open(NOW)];
    one.take(10, 100);
    one.take(20, 100);
    other.take(30, 100);
    await Promise.all([one.close(), one.close()]);
    expect(room.takenBytes).toBe(30);
    await other.close();
    expect(room.takenBytes).toBe(0);
  });

  it('is not taken by what was refused', async () => {
    const room = new ContentRoom();
    const share = room.open(NOW);
    expect(() => share.take(101, 100)).toThrow();
    await share.close();
    expect(room.takenBytes).toBe(0);
  });

  it('is kept as long as the reply may need the content', async () => {
    const room = new ContentRoom();
    let replied = () => {};
    const reply = new Promise<void>((resolve) => {
      replied = resolve;
    });
    const share = room.open(() => reply);
    share.take(10, 100);
    const closed = share.close();
    await NOW();
    expect(room.takenBytes).toBe(10);
    replied();
    await closed;
    expect(room.takenBytes).toBe(0);
  });

  it('that a reload made smaller waits for what is held', async () => {
    const room = new ContentRoom();
    const before = room.open(NOW);
    before.take(100, 100);
    const after = room.open(NOW);
    expect(() => after.take(10, 20)).toThrow();
    await before.close();
    after.take(10, 20);
    expect(room.takenBytes).toBe(10);
  });
});
