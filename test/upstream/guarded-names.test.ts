import type { LookupAddress } from 'node:dns';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type EgressRules, NO_EGRESS_RULES, parseEgressRules } from '../../src/kit/egress.ts';
import { createNetworkTransport, TRANSPORT_LIMITS } from '../../src/upstream/transport.ts';
import type { Transport } from '../../src/upstream/upstream.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../fakes/fake-upstream.ts';

// Every name leads to this machine.
vi.mock('node:dns', async (original) => ({
  ...(await original<typeof import('node:dns')>()),
  lookup: (_host: string, _options: object, callback: (error: null, addresses: LookupAddress[]) => void) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }]),
}));

let upstream: FakeUpstream;
let transport: Transport;
let rules: EgressRules = NO_EGRESS_RULES;

beforeEach(async () => {
  upstream = await openFakeUpstream();
  transport = createNetworkTransport(TRANSPORT_LIMITS, () => rules);
});

afterEach(async () => {
  await transport.close();
  await upstream.close();
});

const open = (url: string) =>
  transport.open({
    url,
    headers: {},
    body: '{}',
    timeouts: { connect: 2000, firstByte: 2000, idle: 2000, total: 5000 },
    signal: new AbortController().signal,
    isGuarded: true,
  });

it.each(['http://harmless.example/', 'https://harmless.example/'])(
  'does not follow %s to this machine',
  async (url) => {
    rules = NO_EGRESS_RULES;
    await expect(open(url)).rejects.toMatchObject({
      reason: 'connect',
      message: 'the address is unknown or not one that may be called',
    });
  },
);

it('follows a name that the operator allows', async () => {
  upstream.answer(reply(200, {}));
  rules = parseEgressRules(['harmless.example']);
  const { port } = new URL(upstream.url);
  expect((await open(`http://harmless.example:${port}/`)).status).toBe(200);
  expect(upstream.requests).toHaveLength(1);
});
