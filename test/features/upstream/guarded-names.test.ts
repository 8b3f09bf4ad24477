import dns, { type LookupAddress } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type EgressRules, NO_EGRESS_RULES, parseEgressRules } from '../../../src/kit/net/egress.ts';
import { createNetworkTransport, TRANSPORT_LIMITS } from '../../../src/net/transport/transport.ts';
import type { Transport } from '../../../src/net/transport/transport-call.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';

const realLookup = dns.lookup;

/** The names of the tests lead to this machine. */
function lookupHere(host: string, ...rest: unknown[]): void {
  const callback = rest.at(-1) as (error: null, found: LookupAddress[]) => void;
  if (host.endsWith('.example')) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else Reflect.apply(realLookup, dns, [host, ...rest]);
}

beforeAll(() => {
  dns.lookup = lookupHere as unknown as typeof dns.lookup;
  syncBuiltinESMExports();
});

afterAll(() => {
  dns.lookup = realLookup;
  syncBuiltinESMExports();
});

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
