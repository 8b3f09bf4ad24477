import type { Provider } from '../../catalog/catalog.ts';
import type { ProviderEntry } from '../../catalog/entries.ts';
import { type Credential, parseCredential } from '../../catalog/providers/credential.ts';
import { addressesNamedBy, labelledSecretOf } from '../../catalog/providers/credential-facts.ts';
import type { Auth } from '../../catalog/providers/provider-members.ts';
import { authOf, rowOf } from '../../catalog/providers/provider-rows.ts';
import { type EgressRules, egressProblem } from '../../kit/net/egress.ts';
import { readOAuthToken } from '../../kit/net/oauth-token.ts';
import { maskedLabel } from '../../kit/text/masked-label.ts';
import { MCP_PROVIDER_PREFIX } from '../../ports/tenancy/byok-credentials.ts';

/** Requirements of a provider on its credentials. */
export interface CredentialTarget {
  readonly auth: Auth;
  /** The credential must contain the address to call. */
  readonly needsAddress: boolean;
  /** It may be a JSON document with a token to refresh it. */
  readonly mayBeRefreshed: boolean;
}

/** Authorization schemes whose plain keys contain no address. */
const ADDRESSED_BY_DOCUMENT: ReadonlySet<Auth> = new Set(['azure', 'google']);

/** The part of a provider that decides what its credentials look like. */
export type CredentialProvider = Pick<Provider, 'slug' | 'auth' | 'baseUrl'>;

/** The part of configured providers, complete or not, that decides what their credentials look like. */
export function credentialProviders(entries: readonly ProviderEntry[]): CredentialProvider[] {
  return entries.map((entry) => ({
    slug: entry.slug,
    auth: authOf(entry) ?? 'bearer',
    baseUrl: entry.base_url ?? rowOf(entry.slug)?.base_url,
  }));
}

/** MCP servers of the configuration, as providers of the tokens that accounts bring for them. */
export function mcpProviders(
  servers: Readonly<Record<string, { readonly url: string }>>,
): CredentialProvider[] {
  return Object.entries(servers).map(([label, { url }]) => ({
    slug: `${MCP_PROVIDER_PREFIX}${label}`,
    auth: 'bearer',
    baseUrl: url,
  }));
}

/** The target of a provider's slug, from the configuration or the built-in table; undefined if it is in neither. */
export function credentialTarget(
  slug: string,
  configured: readonly CredentialProvider[],
): CredentialTarget | undefined {
  const provider = configured.find((candidate) => candidate.slug === slug);
  const row = rowOf(slug);
  if (provider === undefined && row === undefined) return undefined;
  const auth = provider?.auth ?? authOf({ slug }) ?? 'bearer';
  const address = provider === undefined ? row?.base_url : provider.baseUrl;
  return {
    auth,
    needsAddress: address === undefined && ADDRESSED_BY_DOCUMENT.has(auth),
    mayBeRefreshed: slug.startsWith(MCP_PROVIDER_PREFIX),
  };
}

/** The label of a credential, or its problem. A problem says what is expected and never quotes the text. */
export function checkSecret(
  text: string,
  target: CredentialTarget,
  egress: EgressRules,
): { readonly label: string } | { readonly problem: string } {
  if (text.trim() === '') return { problem: 'must not be blank' };
  const refreshable = target.mayBeRefreshed ? readOAuthToken(text) : undefined;
  if (refreshable !== undefined) return checkOAuthToken(refreshable, egress);
  const reading = parseCredential(target.auth, text);
  const expected = (target.needsAddress ? EXPECTED_JSON : EXPECTED)[target.auth] ?? '';
  if (!reading.ok) return { problem: `${reading.problem}${expected}` };
  const { credential } = reading;
  if (target.needsAddress && credential.kind === 'key') {
    return { problem: `must be JSON that says which address to call${expected}` };
  }
  const problem = addressProblem(credential, egress);
  if (problem !== undefined) return { problem };
  return { label: maskedLabel(labelledSecretOf(credential) ?? '') };
}

const EXPECTED_OAUTH =
  '; expected is a plain token, or JSON {access_token, refresh_token, token_endpoint, client_id} with ' +
  'client_secret, scope and expires_at if there are any';

function checkOAuthToken(
  reading: NonNullable<ReturnType<typeof readOAuthToken>>,
  egress: EgressRules,
): ReturnType<typeof checkSecret> {
  if ('problem' in reading) return { problem: `${reading.problem}${EXPECTED_OAUTH}` };
  const { accessToken, tokenEndpoint } = reading.token;
  const problem = egressProblem(new URL(tokenEndpoint), egress);
  return problem === undefined
    ? { label: maskedLabel(accessToken) }
    : { problem: `token_endpoint ${problem}` };
}

/** Appended to the problem of a JSON credential. */
const EXPECTED: Readonly<Partial<Record<Auth, string>>> = {
  azure:
    '; expected is a JSON list of {api_key, resource_name, resource_type} or {model_slug, endpoint_url, ' +
    'api_key, model_id}',
  aws: '; expected is a Bedrock API key, or JSON {accessKeyId, secretAccessKey, region}',
  google: '; expected is an API key, or the JSON of a service account',
};

/** `EXPECTED` if a plain key is not enough. */
const EXPECTED_JSON: Readonly<Partial<Record<Auth, string>>> = {
  ...EXPECTED,
  google: '; expected is the JSON of a service account',
};

/** Secrets are sent to these addresses: they must be encrypted and must not lead into the internal network. */
function addressProblem(credential: Credential, egress: EgressRules): string | undefined {
  for (const { member, url } of addressesNamedBy(credential)) {
    const problem = egressProblem(new URL(url), egress);
    if (problem !== undefined) return `${member} ${problem}`;
  }
  return undefined;
}
