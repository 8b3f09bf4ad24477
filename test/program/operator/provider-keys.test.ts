import { afterEach, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let gateway: TestGateway;

afterEach(() => gateway.close());

it('a key in the environment switches its provider on, beside the simulator', async () => {
  gateway = await openTestGateway({}, { env: { GEMINI_API_KEY: 'canary-gemini' } });
  const { data } = (await (await gateway.fetch('/models')).json()) as { data: { id: string }[] };
  expect(new Set(data.map(({ id }) => id.split('/')[0]))).toEqual(new Set(['google', 'simulator']));
  expect(gateway.logText()).not.toContain('canary');
});
