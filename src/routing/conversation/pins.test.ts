import { beforeEach, describe, expect, it } from 'vitest';
import { HandClock } from '../../../test/kit/fakes/hand-clock.ts';
import { Pins } from './pins.ts';

const A = { site: 'site-a', modelId: 'acme/large' };
const B = { site: 'site-b', modelId: 'acme/small' };

let clock: HandClock;
let pins: Pins;

beforeEach(() => {
  clock = new HandClock();
  pins = new Pins({ clock, idleMs: () => 600_000, max: 3 });
});

describe('Pins', () => {
  it('finds what was pinned, and nothing else', () => {
    pins.pin('one', A);
    expect(pins.find('one')).toMatchObject(A);
    expect(pins.find('two')).toBeUndefined();
  });

  it('moves a pin with the next success', () => {
    pins.pin('one', A);
    pins.pin('one', B);
    expect(pins.find('one')).toMatchObject(B);
  });

  it('ends a pin after ten idle minutes; looking at it does not renew it, success does', () => {
    pins.pin('one', A);
    clock.pass(600_000);
    expect(pins.find('one')).toBeDefined();
    clock.pass(1);
    expect(pins.find('one')).toBeUndefined();
    pins.pin('one', A);
    clock.pass(599_999);
    pins.pin('one', A);
    clock.pass(599_999);
    expect(pins.find('one')).toBeDefined();
  });

  it('follows an idle time that changes', () => {
    let idleMs = 1000;
    const changing = new Pins({ clock, idleMs: () => idleMs });
    changing.pin('one', A);
    idleMs = 2000;
    changing.pin('two', A);
    clock.pass(1500);
    expect(changing.find('one')).toBeUndefined();
    expect(changing.find('two')).toBeDefined();
  });

  it('is bounded: the least recently used pin is evicted', () => {
    for (const key of ['one', 'two', 'three']) pins.pin(key, A);
    pins.pin('one', A);
    pins.pin('four', A);
    expect(['one', 'two', 'three', 'four'].filter((key) => pins.find(key) !== undefined)).toEqual([
      'one',
      'three',
      'four',
    ]);
  });
});
