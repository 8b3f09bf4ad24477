import { expect, it } from 'vitest';
import { outputLimitAt } from './output-limit.ts';

it.each([
  ['nothing limits it', undefined, [], undefined],
  ['nothing that is given limits it', undefined, [undefined, undefined], undefined],
  ['only the endpoint does', 100, [undefined], 100],
  ['only the caller does', undefined, [50], 50],
  ['the caller asks for more than the endpoint writes', 100, [200], 100],
  ['less is paid for than is asked for', 100, [50, 20], 20],
])('the output limit where %s', (_, maxOutputTokens, limits, expected) => {
  expect(outputLimitAt({ maxOutputTokens }, ...limits)).toBe(expected);
});
