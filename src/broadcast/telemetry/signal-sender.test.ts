import { expect, it } from 'vitest';
import { FollowerWaits } from '../../ports/following/follower.ts';
import { type SenderDependencies, SignalSender, type TelemetryTarget } from './signal-sender.ts';

const TARGET: TelemetryTarget = {
  endpoint: 'http://127.0.0.1:1',
  headers: {},
  protocol: 'json',
  metricsEveryMs: 1,
  sendsLogs: true,
};

it('pauses for as long as it says, also if the clock of the machine is set back', async () => {
  let monotonicMs = 0;
  let wallMs = 1_760_000_000_000;
  const dependencies: SenderDependencies = {
    send: async () => {
      throw new FollowerWaits('it answers with status 503');
    },
    pauseMs: () => 30_000,
    clock: { now: () => wallMs, monotonic: () => monotonicMs },
    log: { warn: () => {}, info: () => {} },
  };
  const sender = new SignalSender('logs', 'ExportLogsServiceRequest', dependencies);
  await sender.send(TARGET, [{ resourceLogs: [] }], new AbortController().signal);
  expect(sender.isPaused).toBe(true);
  monotonicMs += 29_999;
  wallMs += 86_400_000;
  expect(sender.isPaused).toBe(true);
  monotonicMs += 1;
  wallMs -= 2 * 86_400_000;
  expect(sender.isPaused).toBe(false);
});
