import { expect, it } from 'vitest';
import { LearntThoughts, USUAL_THINKING } from './learnt-thoughts.ts';

it('knows nothing of an endpoint without answers', () => {
  expect(new LearntThoughts().meanOf('site', USUAL_THINKING)).toBeUndefined();
});

it('is the mean of what answers did not show, however long they were', () => {
  const thoughts = new LearntThoughts();
  for (const hidden of [3000, 1000, 2000]) thoughts.learn('site', USUAL_THINKING, hidden);
  expect(thoughts.meanOf('site', USUAL_THINKING)).toBe(2000);
  expect(thoughts.meanOf('other', USUAL_THINKING)).toBeUndefined();
});

it('tells efforts apart, and takes one that is not known yet for the mean of all that were asked for', () => {
  const thoughts = new LearntThoughts();
  thoughts.learn('site', 'low', 100);
  thoughts.learn('site', 'high', 5000);
  expect(thoughts.meanOf('site', 'low')).toBe(100);
  expect(thoughts.meanOf('site', 'max')).toBe(2550);
  expect(thoughts.meanOf('site', USUAL_THINKING)).toBeUndefined();
});

it('forgets older answers by and by', () => {
  const thoughts = new LearntThoughts();
  for (let nth = 0; nth < 1000; nth++) thoughts.learn('site', USUAL_THINKING, 10_000);
  for (let nth = 0; nth < 500; nth++) thoughts.learn('site', USUAL_THINKING, 0);
  expect(thoughts.meanOf('site', USUAL_THINKING)).toBeLessThan(10);
});
