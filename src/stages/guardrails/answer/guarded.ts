import type { WireWatch } from '../../../ir/wire-watch.ts';
import type { StageContext } from '../../stage.ts';
import type { GuardrailScan } from '../guardrail-scan.ts';
import type { JudgePanel } from '../judges/judge-panel.ts';
import { blockedError, pipelineEntries } from '../refusals.ts';
import type { OpenPartEnd } from './answer-cut.ts';

export interface Guarded {
  readonly scan: GuardrailScan;
  readonly panel: JudgePanel;
  /** Set in all requests of the generation. */
  readonly watch: WireWatch;
  /** The end of the answer so far, which the text of the next leg goes on with; absent = it ends no match. */
  sentEnd?: OpenPartEnd | undefined;
}

/** Notes what was found; throws if something must not pass. `isAdded`: what is sent was none of the caller's. */
export function checked<T>(
  value: T,
  scan: GuardrailScan,
  { note }: Pick<StageContext, 'note'>,
  isAdded = false,
): T {
  const found = scan.take();
  for (const entry of pipelineEntries(found, isAdded)) note(entry);
  if (scan.isBlocked) throw blockedError(found);
  return value;
}
