import { INBOUND_DIALECTS, UPSTREAM_DIALECTS } from '../dialects/dialects.ts';
import type { Clock, IdSource } from '../kit/ids.ts';
import { createAuthorize } from './auth/authorize.ts';
import { createCallUpstream } from './call.ts';
import { type CountCall, countUpstreamTokens } from './count-tokens.ts';
import { createSimulator } from './simulator/simulator.ts';
import { createNetworkTransport } from './transport.ts';
import type { CallUpstream } from './upstream.ts';

/** Everything that leaves the gateway towards providers. */
export interface Upstreams {
  readonly call: CallUpstream;
  /** Asks an endpoint to count a prompt; undefined when it cannot. */
  countTokens(call: CountCall): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Opens the network and the simulator. */
export function openUpstreams({
  vendor,
  clock,
  ids,
}: {
  vendor: string;
  clock: Clock;
  ids: IdSource;
}): Upstreams {
  const network = createNetworkTransport();
  const authorize = createAuthorize({ transport: network, clock });
  const simulator = createSimulator({ dialects: INBOUND_DIALECTS, vendor, clock });
  return {
    call: createCallUpstream({
      transports: { network, simulator },
      dialects: UPSTREAM_DIALECTS,
      authorize,
      clock,
      ids,
    }),
    countTokens: (call) => countUpstreamTokens(call, { transport: network, authorize }),
    async close() {
      await Promise.all([network.close(), simulator.close()]);
    },
  };
}
