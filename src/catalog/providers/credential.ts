import { createPrivateKey } from 'node:crypto';
import Type, { type Static, type TSchema } from 'typebox';
import type { AwsSigningKey } from '../../kit/crypto/sign-aws.ts';
import { type Json, readJson } from '../../kit/json/json.ts';
import { nullish, oneOf } from '../../kit/json/schema.ts';
import { compileValidator } from '../../kit/json/validate.ts';
import { urlOf } from '../../kit/net/url-of.ts';
import type { Auth } from './provider-members.ts';

export type Credential =
  | { readonly kind: 'key'; readonly key: string }
  | AzureCredential
  | AwsKey
  | AwsAccessKey
  | GoogleServiceAccount;

/** Keys of resources and of single deployments; a deployment of the requested model wins. */
export interface AzureCredential {
  readonly kind: 'azure';
  readonly resources: readonly AzureResource[];
  readonly deployments: readonly AzureDeployment[];
}

export interface AzureResource {
  readonly key: string;
  /** Everything before the dialect's own path. */
  readonly baseUrl: string;
}

export interface AzureDeployment {
  readonly key: string;
  /** Public slug of the model that it serves. */
  readonly modelSlug: string;
  /** The deployment's own name. */
  readonly model: string;
  /** Everything before the dialect's own path. */
  readonly baseUrl: string;
  /** Query string: empty, or `?api-version=...`. */
  readonly query: string;
}

/** A Bedrock key, valid in one region. */
export interface AwsKey {
  readonly kind: 'aws-key';
  readonly key: string;
  readonly region: string;
}

export interface AwsAccessKey extends AwsSigningKey {
  readonly kind: 'aws-access-key';
}

export interface GoogleServiceAccount {
  readonly kind: 'google-service-account';
  readonly clientEmail: string;
  /** PEM. */
  readonly privateKey: string;
  readonly privateKeyId?: string;
  /** Issuer of access tokens: https, or http on loopback. */
  readonly tokenUri: string;
  readonly projectId: string;
  /** `global` or a region. */
  readonly region: string;
}

/** A credential, or its problem, which names members and never quotes a value. */
export type CredentialReading =
  | { readonly ok: true; readonly credential: Credential }
  | { readonly ok: false; readonly problem: string };

/** Parses a credential: a plain key, or JSON if the authorization scheme has a JSON form. */
export function parseCredential(auth: Auth, text: string): CredentialReading {
  if (!/^\s*[{[]/.test(text)) return readPlain(auth, text.trim());
  const readDocument = DOCUMENTS[auth];
  if (readDocument === undefined) return refused('must be a plain key: JSON means nothing to this provider');
  const reading = readJson(text);
  return reading.ok ? readDocument(reading.value) : refused(`is ${reading.problem}`);
}

/** All parts of a credential to redact: secrets, and names of the account. */
export function secretsOf(credential: Credential): string[] {
  switch (credential.kind) {
    case 'key':
    case 'aws-key':
      return [credential.key];
    case 'azure':
      return [...credential.resources, ...credential.deployments].map(({ key }) => key);
    case 'aws-access-key': {
      const { secretAccessKey, accessKeyId, sessionToken } = credential;
      return [secretAccessKey, accessKeyId, ...(sessionToken === undefined ? [] : [sessionToken])];
    }
    case 'google-service-account': {
      const { privateKey, privateKeyId, clientEmail, projectId } = credential;
      return [
        privateKey,
        privateKey.trim(),
        clientEmail,
        projectId,
        ...(privateKeyId === undefined ? [] : [privateKeyId]),
      ];
    }
  }
}

/** Default region of a Bedrock key. */
const AWS_DEFAULT_REGION = 'us-east-1';

function readPlain(auth: Auth, key: string): CredentialReading {
  if (!/^[\x21-\x7e]+$/.test(key)) return refused('holds a character that cannot be sent in a header');
  return taken(auth === 'aws' ? { kind: 'aws-key', key, region: AWS_DEFAULT_REGION } : { kind: 'key', key });
}

// --- JSON forms
// ----------------------------------------------------------------------------------------------------------

const DOCUMENTS: Readonly<Partial<Record<Auth, (document: Json) => CredentialReading>>> = {
  azure: readAzure,
  aws: readAws,
  google: readServiceAccount,
};

const secret = Type.String({
  pattern: '^[\\x21-\\x7e]{1,8192}$',
  explain: 'must be text that can be sent in a header',
});
const region = Type.String({
  pattern: '^[a-z0-9-]{1,64}$',
  explain: 'must be a region, for example us-east-1',
});

const azureResource = Type.Object({
  api_key: secret,
  resource_name: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,63}$',
    explain: 'must be the name of a resource: letters, digits and "-"',
  }),
  resource_type: nullish(oneOf(['ai_foundry', 'openai'])),
});
const azureDeployment = Type.Object({
  model_slug: Type.String({ minLength: 1, maxLength: 256 }),
  endpoint_url: Type.String({ minLength: 1, maxLength: 2048 }),
  api_key: secret,
  model_id: Type.String({ minLength: 1, maxLength: 256 }),
});
const awsKey = Type.Object({ apiKey: secret, region });
const awsAccessKey = Type.Object({
  accessKeyId: secret,
  secretAccessKey: secret,
  sessionToken: nullish(secret),
  region,
});
const serviceAccount = Type.Object({
  client_email: Type.String({ pattern: '^[\\x21-\\x7e]{3,320}$', explain: 'must be an e-mail address' }),
  private_key: Type.String({ minLength: 1 }),
  private_key_id: nullish(Type.String({ maxLength: 256 })),
  project_id: Type.String({
    pattern: '^[a-z0-9][a-z0-9.:-]{1,127}$',
    explain: 'must be the id of a project',
  }),
  token_uri: nullish(Type.String({ maxLength: 2048 })),
  region: nullish(region),
  bucket: nullish(Type.String({ maxLength: 256 })),
});

const readAwsKey = reader(awsKey);
const readAwsAccessKey = reader(awsAccessKey);
const readAccount = reader(serviceAccount);
const readResource = reader(azureResource);
const readDeployment = reader(azureDeployment);

function readAws(document: Json): CredentialReading {
  if (isMap(document) && 'apiKey' in document) {
    const reading = readAwsKey(document);
    if (!reading.ok) return reading;
    return taken({ kind: 'aws-key', key: reading.value.apiKey, region: reading.value.region });
  }
  const reading = readAwsAccessKey(document);
  if (!reading.ok) return reading;
  const { accessKeyId, secretAccessKey, sessionToken, region: place } = reading.value;
  return taken({
    kind: 'aws-access-key',
    accessKeyId,
    secretAccessKey,
    ...(sessionToken && { sessionToken }),
    region: place,
  });
}

const GOOGLE_TOKEN_URI = 'https://oauth2.googleapis.com/token';

function readServiceAccount(document: Json): CredentialReading {
  const reading = readAccount(document);
  if (!reading.ok) return reading;
  const account = reading.value;
  const tokenUri = account.token_uri ?? GOOGLE_TOKEN_URI;
  if (!isSafeAddress(tokenUri)) return refused(`token_uri ${UNSAFE_ADDRESS}`);
  if (!isPrivateKey(account.private_key)) return refused('private_key is not a private key in PEM');
  return taken({
    kind: 'google-service-account',
    clientEmail: account.client_email,
    privateKey: account.private_key,
    ...(account.private_key_id && { privateKeyId: account.private_key_id }),
    tokenUri,
    projectId: account.project_id,
    region: account.region ?? 'global',
  });
}

const AZURE_HOSTS = { openai: 'openai.azure.com', ai_foundry: 'services.ai.azure.com' } as const;

function readAzure(document: Json): CredentialReading {
  const entries = Array.isArray(document) ? document : [document];
  if (entries.length === 0) return refused('is an empty list');
  const resources: AzureResource[] = [];
  const deployments: AzureDeployment[] = [];
  for (const [index, entry] of entries.entries()) {
    const at = Array.isArray(document) ? `[${index}]` : '';
    if (isMap(entry) && ('endpoint_url' in entry || 'model_slug' in entry)) {
      const reading = readDeployment(entry, at);
      if (!reading.ok) return reading;
      if (!isSafeAddress(reading.value.endpoint_url)) {
        return refused(`${at === '' ? '' : `${at}.`}endpoint_url ${UNSAFE_ADDRESS}`);
      }
      deployments.push(deploymentOf(reading.value));
    } else {
      const reading = readResource(entry, at);
      if (!reading.ok) return reading;
      const { api_key: key, resource_name: name, resource_type: type } = reading.value;
      resources.push({
        key,
        baseUrl: `https://${name.toLowerCase()}.${AZURE_HOSTS[type ?? 'openai']}/openai/v1`,
      });
    }
  }
  return taken({ kind: 'azure', resources, deployments });
}

/** Removes the dialect's path from an address that was copied whole. */
const OPERATION = /\/(?:chat\/completions|responses)$/;

function deploymentOf(entry: Static<typeof azureDeployment>): AzureDeployment {
  const url = new URL(entry.endpoint_url);
  const path = url.pathname.replace(/\/+$/, '').replace(OPERATION, '');
  return {
    key: entry.api_key,
    modelSlug: entry.model_slug,
    model: entry.model_id,
    baseUrl: url.origin + path,
    query: url.search,
  };
}

// --- Shared
// --------------------------------------------------------------------------------------------------------------

type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Compiles a parser for a schema; `at`: the document's path in the credential. */
function reader<T extends TSchema>(schema: T): (document: Json, at?: string) => Reading<Static<T>> {
  const validator = compileValidator(schema);
  return (document, at = '') => {
    const [issue] = validator.issuesOf(document);
    if (issue === undefined) return { ok: true, value: document as Static<T> };
    const path = `${at}${at === '' || issue.path === '' ? '' : '.'}${issue.path}`;
    return { ok: false, problem: path === '' ? issue.message : `${path} ${issue.message}` };
  };
}

const UNSAFE_ADDRESS = 'must be an address that begins with https://';

/** True for https, and for http on loopback: secrets never leave the machine unencrypted. */
function isSafeAddress(address: string): boolean {
  const url = urlOf(address);
  if (url === undefined) return false;
  const { protocol, hostname, username, password } = url;
  if (username !== '' || password !== '') return false;
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLocal);
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function isMap(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function taken(credential: Credential): CredentialReading {
  return { ok: true, credential };
}

function refused(problem: string): CredentialReading & Reading<never> {
  return { ok: false, problem };
}
