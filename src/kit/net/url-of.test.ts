import { expect, it } from 'vitest';
import { urlOf } from './url-of.ts';

it('knows an address with letters outside ASCII, however often it is asked', () => {
  const hosts = new Set<string | undefined>();
  for (let count = 0; count < 50_000; count++) hosts.add(urlOf('https://bücher.example/größe.png')?.host);
  expect([...hosts]).toEqual(['xn--bcher-kva.example']);
});

it('knows no address in other text', () => {
  expect(urlOf('no address')).toBeUndefined();
  expect(urlOf('/path')).toBeUndefined();
  expect(urlOf('/path', 'https://one.example')?.href).toBe('https://one.example/path');
});
