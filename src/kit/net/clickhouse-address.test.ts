import { expect, it } from 'vitest';
import { parseClickhouseAddress } from './clickhouse-address.ts';

it.each([
  ['http://h', { origin: 'http://h:8123', database: 'signalbox', user: undefined, password: undefined }],
  ['https://h/', { origin: 'https://h:8443', database: 'signalbox', user: undefined, password: undefined }],
  ['http://h:80/usage', { origin: 'http://h:80', database: 'usage', user: undefined, password: undefined }],
  [
    'http://u%40x:p%2Fw@[::1]:8124/a_b1',
    { origin: 'http://[::1]:8124', database: 'a_b1', user: 'u@x', password: 'p/w' },
  ],
])('reads %s', (text, address) => {
  expect(parseClickhouseAddress(text)).toEqual({ ok: true, address });
});

it.each([
  'h:8123',
  'clickhouse://u:secret@h:9000/d',
  'http://u:secret@h/a/b',
  'http://u:secret@h/d;drop',
  'http://u:secret@h/d?x=1',
  'http://u:%zzsecret@h/d',
  'http:///d',
])('refuses %s without repeating it', (text) => {
  const reading = parseClickhouseAddress(text);
  expect(reading.ok).toBe(false);
  expect(JSON.stringify(reading)).not.toContain('secret');
});
