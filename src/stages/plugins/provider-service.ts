import type { Catalog, Provider } from '../../catalog/catalog.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import { pluginPlace } from '../../ir/plugins.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject, type JsonObject, readJson } from '../../kit/json/json.ts';
import type { Egress, EgressLimits, EgressReply } from '../../net/egress/egress.ts';
import { EgressProblem, mayBeBilled } from '../../net/egress/egress-problem.ts';
import { plainKeyHeaders } from '../../upstream/auth/authorize.ts';
import { destinationOf } from '../../upstream/auth/destination.ts';
import type { StageContext } from '../stage.ts';

/** Something besides generations that a configured provider does, such as moderation. */
export interface ProviderService {
  readonly provider: Provider;
  /** The provider's name of the model. */
  readonly model: string;
}

/** A provider that the gateway has a credential for, or that needs none; undefined = there is none. */
export function usableProvider(
  slug: string,
  { providers }: Pick<Catalog, 'providers'>,
): Provider | undefined {
  return providers.find((provider) => provider.slug === slug && provider.isDormant !== true);
}

/** The service if the request lets its texts go there; else throws a 422 that names the plugin. */
export function wantedService(
  request: GenerationRequest,
  plugin: JsonObject | undefined,
  service: ProviderService,
  { wishAgainst }: Pick<StageContext, 'wishAgainst'>,
): ProviderService {
  const against = wishAgainst(request, service.provider);
  if (against === undefined) return service;
  const path = plugin === undefined ? 'plugins' : pluginPlace(request, plugin);
  const message = `${service.provider.name}, the provider of this plugin, ${against}`;
  throw invalidRequest([{ path, message }], 'unprocessable');
}

export interface ServiceCall {
  /** Path below the base address, such as `/moderations`. */
  readonly path: string;
  readonly body: JsonObject;
  readonly limits: Omit<EgressLimits, 'maxRedirects'>;
  readonly signal: AbortSignal;
}

/** 503: the request was not served, and may be later. The message holds nothing that the service said. */
export class ServiceFailed extends GatewayError {
  /** True if the service may have done its work, and bills it. */
  readonly mayBeBilled: boolean;

  constructor({ name }: Provider, path: string, why: string, mayHaveCost: boolean) {
    super('overloaded', `The service ${path} of ${name} failed: ${why}`);
    this.mayBeBilled = mayHaveCost;
  }
}

/**
 * The JSON object that a service answers. Rejects with ServiceFailed if the service is down, slow, refuses or answers
 * something else, or with the signal's reason.
 */
export async function callService(
  { provider, model }: ProviderService,
  { path, body, limits, signal }: ServiceCall,
  egress: Pick<Egress, 'call'>,
): Promise<JsonObject> {
  const destination = destinationOf({ provider, modelId: '', upstreamModel: model }, provider.credential);
  const keyHeaders = destination && plainKeyHeaders(provider.auth, destination.credential);
  if (keyHeaders === undefined) {
    throw new ServiceFailed(provider, path, 'it has no address or no plain key', false);
  }
  const reply = await egress
    .call(`${destination?.baseUrl}${path}${destination?.query}`, {
      method: 'POST',
      headers: { ...provider.headers, ...keyHeaders, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, model: destination?.model }),
      limits: { ...limits, maxRedirects: 0 },
      signal,
    })
    .catch((problem: unknown) => {
      if (!(problem instanceof EgressProblem)) throw problem;
      throw new ServiceFailed(provider, path, reasonOf(problem), mayBeBilled(problem));
    });
  const { status } = reply;
  if (status !== 200) {
    throw new ServiceFailed(provider, path, `it answered with status ${status}`, mayBeBilled(status));
  }
  const answer = answerIn(reply);
  if (answer === undefined) throw new ServiceFailed(provider, path, 'its answer is not understood', true);
  return answer;
}

function reasonOf({ reason }: EgressProblem): string {
  return reason === 'timeout' ? 'it did not answer in time' : 'it cannot be reached';
}

function answerIn({ bytes, isCut }: EgressReply): JsonObject | undefined {
  if (isCut) return undefined;
  const reading = readJson(bytes.toString());
  return reading.ok && isJsonObject(reading.value) ? reading.value : undefined;
}
