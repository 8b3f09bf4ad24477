import type { Egress } from '../../../net/egress/egress.ts';
import type { JudgesFor } from './judge.ts';
import { ownService } from './own-service.ts';
import { presidioJudge } from './presidio.ts';

/** The services of guardrails: first the one that knows names, then those of operators, the widest scope first. */
export function guardrailJudges({
  egress,
  presidioUrl,
}: {
  readonly egress: Egress;
  /** The current address; null = none is configured. */
  readonly presidioUrl: () => string | null;
}): JudgesFor {
  return (applied, generationId) => {
    const names = presidioJudge(applied, presidioUrl(), egress);
    const own = applied.flatMap((each) => {
      const { service } = each.guardrail;
      return service === null ? [] : [ownService(each, service, generationId, egress)];
    });
    return names === undefined ? own : [names, ...own];
  };
}
