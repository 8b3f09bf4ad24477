import { expect, it } from 'vitest';
import { killAndCompare } from '../killed-gateway.ts';

const LIVES = Number(process.env.KILLED_LIVES ?? 50);

it(
  `keeps the promise over ${LIVES} lives, and is ready within five seconds`,
  async () => {
    expect(await killAndCompare(LIVES)).toBeLessThan(5_000);
  },
  60_000 + LIVES * 20_000,
);
