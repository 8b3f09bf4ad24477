import { expect, it } from 'vitest';
import { checkDatabase } from './check-database.ts';
import type { Situation } from './situation.ts';

/** The finding about connections. */
async function connectionsOf(gateways: number, allowed: number) {
  const facts = {
    roundTripMs: 1,
    bytes: 1,
    schema: { missing: [], newer: [], required: [] },
    connections: { gateways, perGateway: 20, allowed },
  };
  const findings = await checkDatabase({
    holder: { kind: 'none' },
    database: Promise.resolve({ kind: 'postgres', facts }),
  } as unknown as Situation);
  return findings.at(-1);
}

it('compares the connections that running gateways may open with those that the server allows', async () => {
  expect(await connectionsOf(4, 97)).toMatchObject({
    verdict: 'ok',
    what: '4 running gateways, each with up to 20 connections; the server allows 97, enough for 4 gateways',
    figures: { gateways: 4, connections_per_gateway: 20, connections_allowed: 97 },
  });
  expect(await connectionsOf(5, 97)).toMatchObject({
    verdict: 'warning',
    mend: expect.stringContaining('raise max_connections by at least 3'),
  });
  expect(await connectionsOf(0, 17)).toMatchObject({ verdict: 'warning' });
});
