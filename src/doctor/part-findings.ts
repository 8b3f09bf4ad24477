import type { PartState, ReadinessPart, ReadinessParts } from '../control/doctor-view.ts';
import { type CheckFinding, problem } from './finding.ts';
import type { Holder } from './situation.ts';

/** States of the parts of the running gateway, as `/readyz` reports them; undefined without one that tells. */
export function partsOf(holder: Holder): ReadinessParts | undefined {
  return holder.kind === 'process' ? holder.view.server?.parts : undefined;
}

/** A problem if the running gateway works without one of its parts, although looking at it found nothing wrong. */
export function partFindings(holder: Holder, part: ReadinessPart, mend: string): CheckFinding[] {
  const state = partsOf(holder)?.[part];
  return isImpaired(state) ? [problem(`for the running gateway: ${state.reason ?? state.status}`, mend)] : [];
}

/** The part does not work, or only for some requests. */
export function isImpaired(state: PartState | undefined): state is PartState {
  return state?.status === 'limited' || state?.status === 'unavailable';
}
