import { afterEach, describe, expect, it } from 'vitest';
import type { HttpDependencies } from '../../../src/http/dependencies.ts';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { Analytics } from '../../../src/manage/analytics/analytics.ts';
import type { EventStore } from '../../../src/ports/events/events.ts';
import { DatabaseUnavailable } from '../../../src/store/sql/database-unavailable.ts';
import { ask, MANAGEMENT_KEY, openSocket, startServer, stopServers, until } from '../../kit/http-harness.ts';

afterEach(stopServers);

/** A server whose events answer like this. */
function startWith(query: EventStore['query'], times: HttpDependencies['times'] = {}) {
  const analytics = new Analytics({
    events: { query, isRefilling: false },
    tenancy: { listKeys: async () => [], listWorkspaces: async () => ({ workspaces: [], total: 0 }) },
    apps: { ofIds: async () => [], ofHosts: async () => [] },
    classifiers: { find: async () => undefined, list: async () => ({ classifiers: [], total: 0 }) },
    clock: systemClock,
  });
  return startServer({ analytics, times });
}

/** Events that never answer, and why they were ended. */
function silentEvents() {
  const state = { isAsked: false, reason: undefined as unknown };
  const query: EventStore['query'] = (_, signal) => {
    state.isAsked = true;
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        state.reason = signal.reason;
        reject(signal.reason);
      });
    });
  };
  return { state, query };
}

const QUESTION = {
  path: '/api/v1/analytics/query',
  key: MANAGEMENT_KEY,
  body: { metrics: ['request_count'] },
};

describe('POST /analytics/query', () => {
  it('is given up with a 408 when it takes too long', async () => {
    const { state, query } = silentEvents();
    const { port } = await startWith(query, { queryMs: 30 });
    const { status, json } = await ask(port, QUESTION);
    expect([status, json.error.code]).toEqual([408, 408]);
    expect(json.error.message).toContain('Operation timed out');
    expect(state.reason).toMatchObject({ status: 408 });
  });

  it('is aborted when the caller disconnects', async () => {
    const { state, query } = silentEvents();
    const { port, log } = await startWith(query);
    const { socket } = await openSocket(port);
    const body = JSON.stringify(QUESTION.body);
    socket.write(
      `POST ${QUESTION.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${MANAGEMENT_KEY}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => state.isAsked, 'the question');
    socket.destroy();
    await until(() => state.reason !== undefined, 'the end of the question');
    expect(state.reason).toMatchObject({ name: 'CallerGone' });
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('is a 503 with Retry-After while the events are unavailable', async () => {
    const { port } = await startWith(() => Promise.reject(new DatabaseUnavailable(new Error('secret'))));
    const { status, headers, json, text } = await ask(port, QUESTION);
    expect([status, json.error.message]).toEqual([
      503,
      'Service temporarily unavailable: the database does not answer',
    ]);
    expect(headers['retry-after']).toBe('1');
    expect(text).not.toContain('secret');
  });
});
