import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayIdentity } from '../../src/store/gateway-id.ts';
import { credit, generation, LedgerBench, use } from '../postgres/ledger-bench.ts';
import { postgresForTests } from '../postgres/postgres-server.ts';

const server = await postgresForTests();

if (server !== undefined) {
  describe('a gateway that is killed again and again before it has read its journal in the database', () => {
    let bench: LedgerBench;

    beforeEach(async () => {
      bench = await LedgerBench.open(server);
    });

    afterEach(() => bench.close());

    it('is still the same gateway, and not taken for a copy', async () => {
      const directory = bench.directory();
      const serve = () => {
        const identity = new GatewayIdentity(directory);
        return bench.ledger(directory, { gatewayId: identity.id, identity });
      };
      const first = await serve();
      await first.ledger.reserve(generation('g1'), () => credit(5n));
      await first.ledger.checkpoint('g1', use(3n));
      await first.crash();
      const { id } = new GatewayIdentity(directory);
      for (let starts = 0; starts < 20; starts++) new GatewayIdentity(directory);
      const last = await serve();
      expect(last.warnings).toEqual([]);
      expect(new GatewayIdentity(directory).id).toBe(id);
      expect(await last.ledger.statementOf('account-1')).toMatchObject({
        settledNanos: 3n,
        reservedNanos: 0n,
      });
      const owners = readFileSync(join(directory, 'gateway-owner'), 'utf8').trim().split('\n');
      expect(owners.length).toBeLessThan(12);
    });
  });
}
