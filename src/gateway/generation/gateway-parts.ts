import type { TranslationEntry } from '../../ir/metadata.ts';
import type { Log } from '../../kit/log/log.ts';
import type { CountCall } from '../../upstream/call/count-tokens.ts';
import type { PreviewCall } from '../../upstream/call/preview.ts';
import type { PlanParts } from '../plan/plan-leg.ts';
import type { AcceptParts } from '../request/accept-request.ts';
import type { GatewaySettings } from '../request/settings.ts';
import type { AnswerParts } from './answer-parts.ts';

/** Dependencies of the spine. */
export interface GatewayParts
  extends AcceptParts,
    Omit<PlanParts, 'health' | 'memory' | 'tokenizer' | 'clock'>,
    AnswerParts {
  /** Returns the current settings. */
  readonly settings: () => GatewaySettings;
  /** Asks an endpoint to count the prompt; undefined if it cannot. */
  readonly countUpstream: (call: CountCall) => Promise<number | undefined>;
  /** Reports losses and changes of the translation for an endpoint. */
  readonly previewUpstream: (call: PreviewCall) => Promise<readonly TranslationEntry[]>;
  /** Logs a warning for the operator. */
  readonly warn: Log['warn'];
}
