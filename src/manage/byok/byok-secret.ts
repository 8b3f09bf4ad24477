import type { Provider } from '../../catalog/catalog.ts';
import { type Credential, parseCredential } from '../../catalog/providers/credential.ts';
import { addressesNamedBy, labelledSecretOf } from '../../catalog/providers/credential-facts.ts';
import type { Auth } from '../../catalog/providers/provider.ts';
import { authOf, rowOf } from '../../catalog/providers/provider-rows.ts';
import { type EgressRules, egressProblem } from '../../kit/net/egress.ts';
import { maskedLabel } from '../../kit/text/masked-label.ts';

/** What is known of a provider that somebody brings a credential for. */
export interface CredentialTarget {
  readonly auth: Auth;
  /** The credential has to say which address to call. */
  readonly needsAddress: boolean;
}

/** Ways of authorizing whose plain keys say no address. */
const ADDRESSED_BY_DOCUMENT: ReadonlySet<Auth> = new Set(['azure', 'google']);

/** A provider by its slug: as it is configured, or as the built-in table knows it; undefined for any other name. */
export function credentialTarget(
  slug: string,
  configured: readonly Pick<Provider, 'slug' | 'auth' | 'baseUrl'>[],
): CredentialTarget | undefined {
  const provider = configured.find((candidate) => candidate.slug === slug);
  const row = rowOf(slug);
  if (provider === undefined && row === undefined) return undefined;
  const auth = provider?.auth ?? authOf({ slug }) ?? 'bearer';
  const address = provider === undefined ? row?.base_url : provider.baseUrl;
  return { auth, needsAddress: address === undefined && ADDRESSED_BY_DOCUMENT.has(auth) };
}

/** The label by which a credential is shown, or what is wrong with its text: what is expected, and nothing of the text. */
export function labelOfSecret(
  text: string,
  target: CredentialTarget,
  egress: EgressRules,
): { readonly label: string } | { readonly problem: string } {
  if (text.trim() === '') return { problem: 'must not be blank' };
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

/** What a credential in JSON looks like, behind what is wrong with one. */
const EXPECTED: Readonly<Partial<Record<Auth, string>>> = {
  azure:
    '; expected is a JSON list of {api_key, resource_name, resource_type} or {model_slug, endpoint_url, api_key, model_id}',
  aws: '; expected is a Bedrock API key, or JSON {accessKeyId, secretAccessKey, region}',
  google: '; expected is an API key, or the JSON of a service account',
};

/** The same where a plain key does not say enough. */
const EXPECTED_JSON: Readonly<Partial<Record<Auth, string>>> = {
  ...EXPECTED,
  google: '; expected is the JSON of a service account',
};

/** Secrets are sent to these addresses, so they must be safe from listeners and must not lead inside. */
function addressProblem(credential: Credential, egress: EgressRules): string | undefined {
  for (const { member, url } of addressesNamedBy(credential)) {
    const problem = egressProblem(new URL(url), egress);
    if (problem !== undefined) return `${member} ${problem}`;
  }
  return undefined;
}
