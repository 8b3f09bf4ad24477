import { randomUUID } from 'node:crypto';
import { gatewayResource, gatewayScope } from '../broadcast/encode-traces.ts';
import type { TelemetryTarget } from '../broadcast/telemetry/signal-sender.ts';
import { Telemetry } from '../broadcast/telemetry/telemetry.ts';
import { sendOver } from '../broadcast/writers/send.ts';
import { pauseMs } from '../following/pauses.ts';
import type { Log } from '../kit/log/log.ts';
import { programVersion } from '../kit/program-version.ts';
import { systemClock } from '../kit/time/clock.ts';
import type { Egress } from '../net/egress/egress.ts';
import type { RunningSettings } from '../settings/running-settings.ts';
import type { ShownMetrics } from './listening-server.ts';

/** What telemetry is opened with. `log` tells of problems, and is not watched itself. */
export interface TelemetryParts {
  readonly settings: RunningSettings;
  readonly metrics: ShownMetrics;
  readonly egress: Egress;
  readonly log: Log;
}

/** Begins to send metrics and log lines if the configuration says where. Of several processes the owner does. */
export function openTelemetry({ settings, metrics, egress, log }: TelemetryParts): Telemetry {
  const version = programVersion();
  const now = systemClock.now;
  const telemetry = new Telemetry({
    target: () => targetOf(settings),
    source: {
      // A restarted gateway is another instance, whose sums begin at zero.
      resource: gatewayResource(version, { 'service.instance.id': randomUUID() }),
      scope: gatewayScope(version),
      startMs: now() - process.uptime() * 1_000,
    },
    collect: async () => {
      await metrics.refresh();
      return metrics.families;
    },
    // The operator's own file names the address, so it may be private.
    send: sendOver(egress, true, now),
    pauseMs: (failures, askedMs) => pauseMs(failures, askedMs, Math.random),
    clock: systemClock,
    log,
  });
  telemetry.configure();
  return telemetry;
}

function targetOf({ latest }: RunningSettings): TelemetryTarget | null {
  const { otlp } = latest.config.observability;
  if (!otlp) return null;
  const { endpoint, headers, protocol, metrics, logs } = otlp;
  return { endpoint, headers, protocol, metricsEveryMs: metrics.every_s * 1_000, sendsLogs: logs };
}
