import type { TranslationEntry } from '../../ir/metadata.ts';
import type { Log } from '../../kit/log/log.ts';
import type { CountCall } from '../../upstream/call/count-tokens.ts';
import type { PreviewCall } from '../../upstream/call/preview.ts';
import type { PlanParts } from '../plan/plan-leg.ts';
import type { AcceptParts } from '../request/accept-request.ts';
import type { GatewaySettings } from '../request/settings.ts';
import type { AnswerParts } from './answer-parts.ts';

/** What the spine is built from. */
export interface GatewayParts
  extends AcceptParts,
    Omit<PlanParts, 'health' | 'memory' | 'tokenizer' | 'clock'>,
    AnswerParts {
  /** The settings of this moment. */
  readonly settings: () => GatewaySettings;
  /** Asks an endpoint to count the prompt; undefined when it cannot. */
  readonly countUpstream: (call: CountCall) => Promise<number | undefined>;
  /** What would be lost or changed on the way to an endpoint. */
  readonly previewUpstream: (call: PreviewCall) => Promise<readonly TranslationEntry[]>;
  /** Logs what the operator should know. */
  readonly warn: Log['warn'];
}
