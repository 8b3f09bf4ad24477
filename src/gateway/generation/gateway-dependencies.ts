import type { TranslationEntry } from '../../ir/metadata.ts';
import type { Log } from '../../kit/log/log.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import type { CountCall } from '../../upstream/call/count-tokens.ts';
import type { PreviewCall } from '../../upstream/call/preview.ts';
import type { AnswerDependencies } from '../answer/answer-dependencies.ts';
import type { PlanDependencies } from '../plan/plan-leg.ts';
import type { AcceptDependencies } from '../request/accept-request.ts';
import type { GatewaySettings } from '../request/settings.ts';

export interface GatewayDependencies
  extends AcceptDependencies,
    Omit<PlanDependencies, 'health' | 'memory' | 'tokenizer' | 'clock'>,
    AnswerDependencies {
  /** Returns the current settings for a caller. */
  readonly settings: (caller: Caller) => GatewaySettings;
  /** Asks an endpoint to count the prompt; undefined if it cannot. */
  readonly countUpstream: (call: CountCall) => Promise<number | undefined>;
  /** Reports losses and changes of the translation for an endpoint. */
  readonly previewUpstream: (call: PreviewCall) => Promise<readonly TranslationEntry[]>;
  readonly warn: Log['warn'];
}
