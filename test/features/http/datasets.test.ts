import { afterEach, expect, it } from 'vitest';
import type { HttpDependencies } from '../../../src/http/dependencies.ts';
import { DatabaseUnavailable } from '../../../src/store/sql/database-unavailable.ts';
import { ask, PLAIN_KEY, startServer, stopServers } from '../../kit/http-harness.ts';

afterEach(stopServers);

const PATHS = ['/api/v1/datasets/app-rankings', '/api/v1/datasets/rankings-daily'];

const rankingsThat = (answer: (signal: AbortSignal) => Promise<never>) =>
  ({
    ofApps: (_: object, signal: AbortSignal) => answer(signal),
    ofModels: (_: object, signal: AbortSignal) => answer(signal),
  }) as unknown as HttpDependencies['rankings'];

it.each(PATHS)('gives up on %s when its time is over', async (path) => {
  const rankings = rankingsThat(
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  const { port } = await startServer({ rankings, times: { queryMs: 30 } });
  const { status, json } = await ask(port, { path, key: PLAIN_KEY });
  expect(status).toBe(408);
  expect(json.error).toMatchObject({ code: 408, message: 'Operation timed out. Please try again later.' });
});

it.each(PATHS)('answers %s with Retry-After while the store is unavailable', async (path) => {
  const { port } = await startServer({
    rankings: rankingsThat(() => Promise.reject(new DatabaseUnavailable())),
  });
  const { status, headers } = await ask(port, { path, key: PLAIN_KEY });
  expect(status).toBe(503);
  expect(headers['retry-after']).toBe('1');
});
