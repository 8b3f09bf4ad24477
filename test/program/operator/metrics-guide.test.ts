import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Telemetry, type TelemetryOptions } from '../../../src/broadcast/telemetry/telemetry.ts';
import { ClassificationCounts } from '../../../src/classify/classification-counts.ts';
import { followerMetrics } from '../../../src/following/follower-metrics.ts';
import { GenerationMetrics } from '../../../src/gateway/observers/generation-metrics.ts';
import { HttpMetrics } from '../../../src/http/server/http-metrics.ts';
import { LoopDelay } from '../../../src/kit/metrics/loop-delay.ts';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { gatewayMetrics } from '../../../src/operator/gateway-metrics.ts';
import { sharedMemoryMetrics } from '../../../src/operator/shared-memory-metrics.ts';
import { GuardrailMetrics } from '../../../src/stages/guardrails/guardrail-metrics.ts';
import { WriteOffs } from '../../../src/store/ledger/books/write-offs.ts';
import { workerMetrics } from '../../../src/workers/supervision/worker-metrics.ts';

const guide = readFileSync(new URL('../../../docs/guide/metrics.md', import.meta.url), 'utf8');

it('names every figure in docs/guide/metrics.md, and no other', () => {
  const loopDelay = new LoopDelay();
  const families = gatewayMetrics({
    http: new HttpMetrics({ requests: () => 0, generations: () => 0 }),
    generations: new GenerationMetrics(),
    guardrails: new GuardrailMetrics(),
    ledger: {
      openReservations: 0,
      reconciled: 0,
      isAvailable: true,
      lag: {},
      clockAheadMs: null,
      slices: null,
      disk: { waitingMs: 0, slowWrites: 0, longestMs: 0 },
      writtenOff: new WriteOffs().sums,
    },
    events: { isAvailable: true },
    health: { coolingSites: () => [] },
    loopDelay,
    version: '0',
    money: { latest: { balances: [], budgets: [], keys: [], readAtMs: undefined } },
    configuration: () => ({ inForceSinceMs: 0, isFileRefused: false, lastReload: undefined }),
    clock: systemClock,
  });
  loopDelay.close();
  const shared = sharedMemoryMetrics({
    shared: { kind: 'redis', isUp: () => true },
    limiter: { decidedAlone: 0 },
    news: { gateways: 1, received: 0 },
  });
  const { families: telemetry } = new Telemetry({ target: () => null } as TelemetryOptions);
  const names = [
    ...families,
    ...shared,
    ...new ClassificationCounts().families,
    ...followerMetrics({ running: [], contentBytes: 0, lostContents: 0 }, systemClock),
    ...telemetry,
    ...workerMetrics(() => undefined),
  ].map(({ name }) => name);
  expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
  const named = [...guide.matchAll(/\b(?:signalbox|process)_[a-z_]+[a-z]\b/g)].map(([name]) =>
    name.replace(/_bucket$/, ''),
  );
  expect(named.filter((name) => !names.includes(name))).toEqual([]);
});
