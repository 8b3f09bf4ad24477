import type { Endpoint } from '../catalog/catalog.ts';
import { INBOUND_DIALECTS, UPSTREAM_DIALECTS } from '../dialects/dialects.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Clock } from '../kit/ids.ts';
import { createCallUpstream } from './call.ts';
import { countUpstreamTokens } from './count-tokens.ts';
import { createSimulator } from './simulator/simulator.ts';
import { createNetworkTransport } from './transport.ts';
import type { CallUpstream } from './upstream.ts';

/** Everything that leaves the gateway towards providers. */
export interface Upstreams {
  readonly call: CallUpstream;
  /** Asks the endpoint to count the prompt; undefined when it cannot. */
  countTokens(
    request: GenerationRequest,
    endpoint: Endpoint,
    hashUser: (id: string) => string,
    signal: AbortSignal,
  ): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Opens the network and the simulator. */
export function openUpstreams({ vendor, clock }: { vendor: string; clock: Clock }): Upstreams {
  const network = createNetworkTransport();
  const simulator = createSimulator({ dialects: INBOUND_DIALECTS, vendor, clock });
  return {
    call: createCallUpstream({ transports: { network, simulator }, dialects: UPSTREAM_DIALECTS, clock }),
    async countTokens(request, endpoint, hashUser, signal) {
      const dialect = UPSTREAM_DIALECTS.messages;
      if (dialect === undefined || endpoint.provider.dialect !== dialect.name) return undefined;
      return countUpstreamTokens({ request, endpoint, dialect, transport: network, hashUser, signal });
    },
    async close() {
      await Promise.all([network.close(), simulator.close()]);
    },
  };
}
