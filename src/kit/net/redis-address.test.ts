import { describe, expect, it } from 'vitest';
import { parseRedisAddress, shownRedisAddress } from './redis-address.ts';

const plain = { port: 6379, database: 0, user: undefined, password: undefined, isTls: false };

describe('parseRedisAddress', () => {
  it.each([
    ['redis://cache', { ...plain, host: 'cache' }],
    ['redis://cache:7000/3', { ...plain, host: 'cache', port: 7000, database: 3 }],
    ['redis://cache:7000/', { ...plain, host: 'cache', port: 7000 }],
    ['redis://[::1]:7000', { ...plain, host: '::1', port: 7000 }],
    ['redis://:p%40ss@cache', { ...plain, host: 'cache', password: 'p@ss' }],
    [
      'rediss://sb:secret@cache:6380/1',
      { host: 'cache', port: 6380, database: 1, user: 'sb', password: 'secret', isTls: true },
    ],
  ])('reads %s', (text, address) => {
    expect(parseRedisAddress(text)).toEqual({ ok: true, address });
  });

  it.each([
    ['cache:6379', 'must be an address'],
    ['http://cache', 'must be an address'],
    ['redis://', 'must name one host'],
    ['redis://cache/zero', 'number of a database'],
    ['redis://cache/1/2', 'number of a database'],
    ['redis://cache?tls=1', 'no parameters'],
    ['redis://user@cache', 'without a password'],
    ['redis://u:%zz-secret@cache', 'percent-encoded'],
  ])('refuses %s without repeating it', (text, problem) => {
    const reading = parseRedisAddress(text);
    expect(reading).toEqual({ ok: false, problem: expect.stringContaining(problem) });
    expect(JSON.stringify(reading)).not.toContain('secret');
  });
});

describe('shownRedisAddress', () => {
  it.each([
    ['redis://cache', 'redis://cache:6379/0'],
    ['rediss://sb:secret@[::1]:6380/1', 'rediss://sb:***@[::1]:6380/1'],
    ['redis://:secret@cache', 'redis://:***@cache:6379/0'],
  ])('hides the password of %s', (text, shown) => {
    const reading = parseRedisAddress(text);
    expect(reading.ok && shownRedisAddress(reading.address, '***')).toBe(shown);
  });
});
