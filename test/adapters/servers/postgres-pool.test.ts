import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostgresPool } from '../../../src/store/sql/postgres/postgres-pool.ts';
import type { TcpProxy } from '../../kit/fakes/tcp-proxy.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';
import { proxied } from '../../kit/servers/proxied-database.ts';

const server = await postgresForTests();

/** Work in the background may take minutes for a statement. */
const LIMITS = { connections: 2, connectMs: 5_000, statementMs: 600_000 };

if (server !== undefined) {
  describe('a pool whose statements may take minutes', () => {
    let url: string;
    let proxy: TcpProxy;
    let pool: PostgresPool;

    beforeAll(async () => {
      ({ url, proxy } = await proxied(await server.emptyDatabase()));
      pool = new PostgresPool(addressOf(url), LIMITS);
    });
    beforeEach(async () => {
      await pool.ping();
    });
    afterAll(async () => {
      await pool.end();
      await proxy.close();
    });

    const answers = async () => {
      const connection = await pool.connect();
      try {
        return (await connection.query<{ one: number }>('select 1 as one', [])).rows[0]?.one;
      } finally {
        connection.release();
      }
    };

    it.each(['black-hole', 'cut'] as const)(
      'refuses soon in a %s, and answers soon after it, whatever probes are under way',
      async (fault) => {
        const connection = await pool.connect();
        proxy.setFault(fault);
        pool.drop();
        connection.release();
        await expect(answers()).rejects.toThrow();
        expect(pool.isUp).toBe(false);
        // Time for probes to be swallowed.
        await new Promise((resolve) => setTimeout(resolve, 1_200));
        proxy.setFault('none');
        const beganAt = performance.now();
        await expect.poll(() => pool.isUp, { interval: 50 }).toBe(true);
        // A swallowed probe takes 6 s to end.
        expect(performance.now() - beganAt).toBeLessThan(4_500);
        expect(await answers()).toBe(1);
        expect(await Promise.all([answers(), answers(), answers()])).toEqual([1, 1, 1]);
      },
    );

    it('tells of a connection that got no answer, and of none that the server refused or ended', async () => {
      const impatient = new PostgresPool(addressOf(url), { ...LIMITS, statementMs: 1_000 });
      let silent = 0;
      impatient.silent = () => silent++;
      try {
        const slow = await impatient.connect();
        await expect(slow.query('select pg_sleep(5)', [])).rejects.toThrow();
        slow.release();
        const ended = await impatient.connect();
        await expect(ended.query('select pg_terminate_backend(pg_backend_pid())', [])).rejects.toThrow();
        ended.release();
        expect(silent).toBe(0);
        const dead = await impatient.connect();
        await dead.query('select 1', []);
        proxy.setFault('black-hole');
        await expect(dead.query('select 1', [])).rejects.toThrow();
        proxy.setFault('none');
        dead.release();
        expect(silent).toBe(1);
        await expect.poll(() => impatient.isUp).toBe(true);
      } finally {
        await impatient.end();
      }
    });

    it('is not lost again by a probe that fails after another was answered', async () => {
      const connection = await pool.connect();
      proxy.setFault('black-hole');
      pool.drop();
      connection.release();
      await expect(answers()).rejects.toThrow();
      proxy.setFault('none');
      await expect.poll(() => pool.isUp, { interval: 50 }).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 3_500));
      expect(pool.isUp).toBe(true);
      expect(await answers()).toBe(1);
    });
  });
}
