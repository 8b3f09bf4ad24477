import type { Log } from '../../kit/log/log.ts';
import type { ReportService, ServiceChange } from '../../routing/health/service-watch.ts';
import { partsOfSite } from '../../routing/rules/candidate.ts';

/**
 * Logs when an endpoint begins to cool down, when it is back in service, and when its provider's rate limit pauses it.
 * `account`: it cools down for this account alone. The state of a BYOK credential concerns its owner, so it is no
 * warning.
 */
export function serviceLog(log: Pick<Log, 'info' | 'warn'>): ReportService {
  return (change) => {
    const { model, endpoint, upstreamModel, byokCredential } = partsOfSite(change.site);
    const { cause } = change;
    const fields = {
      model,
      endpoint,
      upstream_model: upstreamModel,
      byok_credential: byokCredential,
      account: change.account,
      error_kind: cause?.kind ?? 'broken-off',
      upstream_status: cause?.status,
      upstream_code: cause?.code,
      errno: cause?.errno,
    };
    const isWarning = change.kind === 'cooling' && byokCredential === undefined;
    log[isWarning ? 'warn' : 'info'](MESSAGES[change.kind], { ...fields, ...figuresOf(change) });
  };
}

const MESSAGES: Readonly<Record<ServiceChange['kind'], string>> = {
  cooling: 'endpoint cools down',
  back: 'endpoint is back in service',
  paused: 'endpoint paused by a rate limit of its provider',
};

function figuresOf(change: ServiceChange) {
  switch (change.kind) {
    case 'cooling':
      return {
        failures_in_a_row: change.failures,
        cooldown_ms: Math.round(change.lengthMs),
        round: change.round,
      };
    case 'back':
      return { out_of_service_ms: Math.round(change.outMs) };
    case 'paused':
      return { pause_ms: Math.round(change.lengthMs) };
  }
}
