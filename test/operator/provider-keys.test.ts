import { afterEach, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../e2e/harness.ts';

let gateway: TestGateway;

afterEach(() => gateway.close());

it('a key in the environment switches its provider on, beside the simulator', async () => {
  gateway = await openTestGateway({}, { env: { GEMINI_API_KEY: 'canary-gemini' } });
  const { data } = (await (await gateway.fetch('/providers')).json()) as { data: { slug: string }[] };
  expect(data.map(({ slug }) => slug)).toEqual(['google-ai-studio', 'simulator']);
  expect(data[0]).toMatchObject({ name: 'Google AI Studio', headquarters: 'US' });
  expect(gateway.logText()).not.toContain('canary');
});
