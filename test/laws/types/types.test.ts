import { afterAll, beforeAll, expect, it } from 'vitest';
import { BodyTypes } from './body-types.ts';
import { EXPECTED, expectedOf, isUnwanted, unexpectedIn } from './expected.ts';
import { type Lanes, openLanes } from './lanes.ts';
import type { Outcome } from './outcome.ts';
import { currentPage, currentRequestsPage } from './page.ts';
import { PACKAGES, PublishedTypes } from './published.ts';
import { runAnswers } from './run-answers.ts';
import { runRequests } from './run-requests.ts';
import { OTHERS, OWNERS } from './upstreams.ts';

/** All that the published types of the official SDKs allow, through a gateway to upstreams of all dialects. */

const GUIDE = '../../../docs/guide/';

type Versions = readonly (readonly [string, string])[];

/** More requests at once than processors: a lane waits while the gateway works for another. */
const LANES = 8;

let lanes: Lanes;
let outcomes: readonly Outcome[];
const types = new PublishedTypes(JSON.parse(process.env.SIGNALBOX_TYPES ?? '{}'));
const bodies = new BodyTypes(types);

beforeAll(async () => {
  lanes = await openLanes(LANES, [...OWNERS, ...OTHERS]);
  outcomes = [...(await runRequests(lanes.lanes, types, bodies)), ...(await runAnswers(lanes.lanes, types))];
});
afterAll(() => lanes?.close());

it('refuses and loses nothing without a reason', () => {
  expect(unexpectedIn(outcomes)).toEqual([]);
});

it('has no reason that explains nothing', () => {
  const used = new Set(outcomes.filter(isUnwanted).map(expectedOf));
  expect(EXPECTED.filter((expected) => !used.has(expected))).toEqual([]);
});

it('checks all members of bodies but those that do occur otherwise', () => {
  expect(bodies.unused).toEqual([]);
});

it.each([
  ['translation-current.md', (versions: Versions) => currentPage(outcomes, versions)],
  ['translation-current-requests.md', () => currentRequestsPage(outcomes)],
])('is what docs/guide/%s shows', async (name, pageOf) => {
  const versions = PACKAGES.map((each) => [each, types.versionOf(each)] as const);
  const hint = `docs/guide/${name} is out of date: write it with \`npm run test:types -- --write\``;
  await expect(pageOf(versions), hint).toMatchFileSnapshot(`${GUIDE}${name}`);
});
