import { expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../../test/kit/builders/catalog.ts';
import { byokCredentialOf, routeOf } from '../../../test/kit/builders/route.ts';
import { planRoute } from '../../routing/plan-route.ts';
import { CallCount } from './candidate-queue.ts';

const model = modelOf({ id: 'a/x', endpoints: [endpointOf({ modelId: 'a/x' })] });
const { ranked: candidates } = planRoute(routeOf([model], { byok: [byokCredentialOf()] }));

/** The candidates that are called if each call fails. */
const called = (perModel: number, perRequest: number) => {
  const calls = new CallCount({ perModel, perRequest });
  return candidates.filter((candidate) => {
    const isAllowed = calls.allows(candidate);
    if (isAllowed) calls.note(candidate);
    return isAllowed;
  });
};

it('counts endpoints of a model, with any credential, as one', () => {
  expect(candidates.map(({ access }) => access.kind)).toEqual(['byok', 'shared']);
  expect(called(1, 8)).toEqual(candidates);
  expect(called(1, 1)).toEqual(candidates.slice(0, 1));
});

it('counts each call if a candidate is called again', () => {
  const [first] = candidates;
  if (first === undefined) throw new Error('there are candidates');
  const calls = new CallCount({ perModel: 2, perRequest: 8 });
  calls.note(first);
  expect(calls.allowsAgain(first)).toBe(true);
  calls.note(first);
  expect(calls.allowsAgain(first)).toBe(false);
});
