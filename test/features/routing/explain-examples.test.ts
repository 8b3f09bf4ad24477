import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routesFor } from '../../../src/http/routes/routes.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

const explain = routesFor('signalbox').find(({ operationId }) => operationId === 'explainRouting');
const { body = {}, otherBodies = {} } = explain?.example ?? {};

const guide = readFileSync(new URL('../../../docs/guide/explain.md', import.meta.url), 'utf8');
const guideBodies = [...guide.matchAll(/-d '(\{[\s\S]*?\})'$/gm)].map(([, text = '']) => JSON.parse(text));

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway();
});

afterAll(async () => {
  await gateway.close();
});

describe('the examples of /routing/explain', () => {
  const formats = (bodies: readonly object[]) =>
    bodies.map((each) => ('format' in each ? each.format : 'responses')).sort();

  it('are in all formats, in the description and in the guide', () => {
    const all = ['chat', 'compaction', 'decisions', 'embeddings', 'messages', 'responses'];
    expect(formats([body, ...Object.values(otherBodies)])).toEqual(all);
    expect(formats(guideBodies)).toEqual(all);
  });

  it.each([body, ...Object.values(otherBodies), ...guideBodies])('are explained: %j', async (each) => {
    const response = await gateway.post('/routing/explain', each);
    const { data } = (await response.json()) as { data: { candidates: { tag: string }[]; error?: object } };
    expect([response.status, data.error]).toEqual([200, undefined]);
    expect(data.candidates.map(({ tag }) => tag)).toEqual(['simulator']);
  });
});
