import { DIALECTS, REQUEST_FORMATS } from '../dialects/dialects.ts';
import type { TranslationEntry } from '../ir/metadata.ts';
import type { IdSource } from '../kit/ids.ts';
import { MemoryBudget } from '../kit/loop/memory-budget.ts';
import type { EgressRules } from '../kit/net/egress.ts';
import type { Clock } from '../kit/time/clock.ts';
import { createNetworkTransport, TRANSPORT_LIMITS } from '../net/transport/transport.ts';
import { createAuthorize } from './auth/authorize.ts';
import { createCallUpstream } from './call/call.ts';
import { type CountCall, countUpstreamTokens } from './call/count-tokens.ts';
import { inPieces } from './call/in-pieces.ts';
import { type PreviewCall, previewCall } from './call/preview.ts';
import { createSimulator } from './simulator/simulator.ts';
import type { CallUpstream } from './upstream.ts';

/** Everything that leaves the gateway towards providers. */
export interface Upstreams {
  readonly call: CallUpstream;
  /** Asks an endpoint to count a prompt; undefined when it cannot. */
  countTokens(call: CountCall): Promise<number | undefined>;
  preview(call: PreviewCall): Promise<readonly TranslationEntry[]>;
  close(): Promise<void>;
}

export function openUpstreams({
  vendor,
  clock,
  ids,
  egress,
  largeAnswersBytes,
}: {
  vendor: string;
  clock: Clock;
  ids: IdSource;
  /** Returns where guarded calls may currently go besides the public internet. */
  egress: () => EgressRules;
  /** Returns how much memory all large answers may take together. */
  largeAnswersBytes: () => number;
}): Upstreams {
  const network = createNetworkTransport(TRANSPORT_LIMITS, egress);
  const authorize = createAuthorize({ transport: network, clock });
  const simulator = createSimulator({ dialects: REQUEST_FORMATS, vendor, clock });
  return {
    call: inPieces(
      createCallUpstream({
        transports: { network, simulator },
        dialects: DIALECTS,
        authorize,
        clock,
        ids,
        largeAnswers: new MemoryBudget(largeAnswersBytes),
      }),
      DIALECTS,
    ),
    countTokens: (call) => countUpstreamTokens(call, { transport: network, authorize }),
    preview: (call) => previewCall(call, DIALECTS),
    async close() {
      await Promise.all([network.close(), simulator.close()]);
    },
  };
}
