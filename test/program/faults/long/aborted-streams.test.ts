import { it } from 'vitest';
import { abortAndCompare } from '../aborted-streams.ts';

const STREAMS = Number(process.env.ABORTED_STREAMS ?? 500);

it.each(['acme', 'groq'])(
  `records and charges ${STREAMS} streams that are left at random points: %s`,
  (slug) => abortAndCompare(slug, STREAMS),
);
