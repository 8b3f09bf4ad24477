import { describe, expect, it } from 'vitest';
import { parseDatabaseAddress } from './database-address.ts';

const addressOf = (text: string) => {
  const reading = parseDatabaseAddress(text);
  return reading.ok ? reading.address : reading.problem;
};

describe('parseDatabaseAddress', () => {
  it('reads all parts, with their defaults', () => {
    expect(addressOf('postgres://u:p%40%2F@db.example:6000/box?sslmode=verify-full')).toEqual({
      host: 'db.example',
      port: 6000,
      database: 'box',
      user: 'u',
      password: 'p@/',
      tls: 'verify-full',
    });
    expect(addressOf('postgresql://u@[::1]/box')).toEqual({
      host: '::1',
      port: 5432,
      database: 'box',
      user: 'u',
      password: undefined,
      tls: 'prefer',
    });
  });

  it('reads the directory of a socket, where there is no TLS', () => {
    expect(addressOf('postgres://u@localhost/box?host=/run/postgresql')).toMatchObject({
      host: '/run/postgresql',
      tls: 'disable',
    });
    expect(addressOf('postgres://u@%2Frun%2Fpostgresql/box')).toMatchObject({ host: '/run/postgresql' });
  });

  it.each([
    ['mysql://u:hush@h/d', 'must be an address'],
    ['postgres:hush', 'must be an address'],
    ['postgres://u:hush@h:port/d', 'must be an address'],
    ['postgres://u:hush@h', 'must name one database'],
    ['postgres://u:hush@h/a/b', 'must name one database'],
    ['postgres://h/d', 'must name a user'],
    ['postgres://u:hush@one,two/d', 'must name one host'],
    ['postgres://u:hush%zz@h/d', 'password that is not percent-encoded'],
    ['postgres://u:hush@h/d?sslmode=yes', 'sslmode must be one of disable, prefer, require, verify-full'],
    ['postgres://u:hush@h/d?hush=1', 'a parameter other than host and sslmode'],
    ['postgres://u:hush@h/d?host=other', 'must be the directory of a socket'],
  ])('reports what is wrong with %s, without repeating it', (text, problem) => {
    expect(addressOf(text)).toContain(problem);
    expect(addressOf(text)).not.toContain('hush');
  });
});
