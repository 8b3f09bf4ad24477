import { expect, it } from 'vitest';
import { bytesText, durationText, tokensText } from './quantities.ts';

it.each([
  [0, '0 bytes'],
  [1_023, '1023 bytes'],
  [1_536, '1.5 KiB'],
  [5 * 1024 ** 4, '5.0 TiB'],
])('writes %d bytes', (bytes, text) => expect(bytesText(bytes)).toBe(text));

it.each([
  [1.25, '1.3 ms'],
  [999, '999 ms'],
  [90_000, '90 s'],
  [3_600_000, '60 min'],
  [86_400_000, '24 h'],
  [400 * 86_400_000, '400 days'],
])('writes %d ms', (milliseconds, text) => expect(durationText(milliseconds)).toBe(text));

it.each([
  [512, '512'],
  [8_192, '8.19k'],
  [200_000, '200k'],
  [1_000_000, '1M'],
  [1_048_576, '1.05M'],
])('writes %d tokens', (tokens, text) => expect(tokensText(tokens)).toBe(text));
