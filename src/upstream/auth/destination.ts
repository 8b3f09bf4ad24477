import type { Endpoint, Provider } from '../../catalog/catalog.ts';
import type {
  AzureCredential,
  Credential,
  GoogleServiceAccount,
} from '../../catalog/providers/credential.ts';

/** Address and credential of a call; of a credential with many parts, the one that this call uses. */
export interface Destination {
  /** Everything before the dialect's own path, without a trailing slash. */
  readonly baseUrl: string;
  /** Query after the path: empty, or `?api-version=...`. */
  readonly query: string;
  /** The name of the model there. */
  readonly model: string;
  readonly credential: Exclude<Credential, AzureCredential> | undefined;
  /** The credential names the address, so its author chose it. */
  readonly isNamedByCredential: boolean;
}

/** The destination of calls to an endpoint with a credential; undefined when the two together name no address. */
export function destinationOf(
  { provider, modelId, upstreamModel }: Pick<Endpoint, 'provider' | 'modelId' | 'upstreamModel'>,
  credential: Credential | undefined,
): Destination | undefined {
  if (credential?.kind === 'azure') {
    return azureDestination(credential, { modelId, upstreamModel, baseUrl: provider.baseUrl });
  }
  const baseUrl = provider.baseUrl ?? addressOf(credential);
  if (baseUrl === undefined) return undefined;
  return { baseUrl, query: '', model: upstreamModel, credential, isNamedByCredential: false };
}

function azureDestination(
  { deployments, resources }: AzureCredential,
  {
    modelId,
    upstreamModel,
    baseUrl,
  }: { modelId: string; upstreamModel: string; baseUrl: string | undefined },
): Destination | undefined {
  const deployment = deployments.find(({ modelSlug }) => modelSlug === modelId);
  if (deployment !== undefined) {
    const { model, query, key } = deployment;
    const { baseUrl: address } = deployment;
    return {
      baseUrl: address,
      query,
      model,
      credential: { kind: 'key', key },
      isNamedByCredential: true,
    };
  }
  const [resource] = resources;
  if (resource === undefined) return undefined;
  return {
    baseUrl: baseUrl ?? resource.baseUrl,
    query: '',
    model: upstreamModel,
    credential: { kind: 'key', key: resource.key },
    isNamedByCredential: false,
  };
}

function addressOf(credential: Exclude<Credential, AzureCredential> | undefined): string | undefined {
  switch (credential?.kind) {
    case 'aws-key':
    case 'aws-access-key':
      return `https://bedrock-runtime.${credential.region}.amazonaws.com`;
    case 'google-service-account':
      return vertexAddress(credential);
    case 'key':
    case undefined:
      return undefined;
  }
}

function vertexAddress({ region, projectId }: GoogleServiceAccount): string {
  const host = region === 'global' ? 'aiplatform.googleapis.com' : `${region}-aiplatform.googleapis.com`;
  return `https://${host}/v1/projects/${projectId}/locations/${region}/publishers/google`;
}

/** All addresses that calls with the gateway's credential may go to, without repetition; none for the simulator. */
export function addressesOf(provider: Provider): readonly string[] {
  if (provider.dialect === 'simulator') return [];
  const { credential } = provider;
  const usual = destinationOf({ provider, modelId: '', upstreamModel: '' }, credential)?.baseUrl;
  const named = credential?.kind === 'azure' ? credential.deployments.map(({ baseUrl }) => baseUrl) : [];
  const tokens = credential?.kind === 'google-service-account' ? [credential.tokenUri] : [];
  return [...new Set([...(usual === undefined ? [] : [usual]), ...named, ...tokens])];
}
