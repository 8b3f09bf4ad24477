import { describe, expect, it } from 'vitest';
import { SignInAttempts } from './sign-in-attempts.ts';

describe('SignInAttempts', () => {
  function attemptsAt(clock: { ms: number }) {
    const attempts = new SignInAttempts({ monotonic: () => clock.ms });
    const isPossible = (address: string, beginning: string): boolean => {
      try {
        attempts.require({ address, beginning });
        return true;
      } catch {
        return false;
      }
    };
    return { attempts, isPossible };
  }

  it('refuses an address after 20 keys that were not valid, until its minute is over', () => {
    const clock = { ms: 5 };
    const { attempts, isPossible } = attemptsAt(clock);
    for (let tried = 0; tried < 20; tried++) {
      expect(isPossible('10.0.0.1', `key-${tried}`)).toBe(true);
      attempts.refused({ address: '10.0.0.1', beginning: `key-${tried}` });
      clock.ms += 1_000;
    }
    expect(() => attempts.require({ address: '10.0.0.1', beginning: 'key-of-mine' })).toThrow(
      'Try again in 40 s',
    );
    expect(isPossible('10.0.0.2', 'key-of-mine')).toBe(true);
    clock.ms = 60_005;
    expect(isPossible('10.0.0.1', 'key-of-mine')).toBe(true);
  });

  it('refuses keys that begin alike after 40 that were not valid, from whichever address', () => {
    const clock = { ms: 0 };
    const { attempts, isPossible } = attemptsAt(clock);
    for (let tried = 0; tried < 40; tried++) {
      expect(isPossible(`10.0.1.${tried}`, 'sk-abc')).toBe(true);
      attempts.refused({ address: `10.0.1.${tried}`, beginning: 'sk-abc' });
    }
    expect(isPossible('10.0.0.2', 'sk-abc')).toBe(false);
    expect(isPossible('10.0.0.2', 'sk-def')).toBe(true);
    clock.ms = 60_000;
    expect(isPossible('10.0.0.2', 'sk-abc')).toBe(true);
  });

  it('remembers no more than 10,000 addresses, and limits the rest together', () => {
    const clock = { ms: 0 };
    const { attempts, isPossible } = attemptsAt(clock);
    for (let tried = 0; tried < 10_030; tried++) {
      attempts.refused({ address: `address-${tried}`, beginning: `key-${tried}` });
    }
    expect(isPossible('address-0', 'key-0')).toBe(true);
    expect(isPossible('address-20000', 'key-of-mine')).toBe(false);
    clock.ms = 60_000;
    attempts.refused({ address: 'address-20000', beginning: 'key-20000' });
    expect(isPossible('address-20001', 'key-of-mine')).toBe(true);
  });
});
