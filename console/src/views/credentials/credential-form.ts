import type { ByokObject, CreateByok, UpdateByok } from '../../api/contract.ts';
import { linesOf } from '../../parts/form/fields.tsx';
import type { Problems } from '../../parts/form/use-form.ts';

/** When a credential is used, as one choice in place of three switches of the interface. */
export const USES = {
  first: { is_fallback: false, is_required: false, is_byok_only: false },
  fallback: { is_fallback: true, is_required: false, is_byok_only: false },
  required: { is_fallback: false, is_required: true, is_byok_only: false },
  only: { is_fallback: false, is_required: false, is_byok_only: true },
} as const;

export type Use = keyof typeof USES;

/** The choice that stands for the switches of a credential. */
export function useOf(credential: Pick<ByokObject, keyof (typeof USES)['first']>): Use {
  if (credential.is_byok_only) return 'only';
  if (credential.is_required) return 'required';
  return credential.is_fallback ? 'fallback' : 'first';
}

/** Stands for "every workspace" among the ids. */
export const EVERY_WORKSPACE = '';

/** The fields of a credential. Those with names of the interface are shown its refusals. */
export interface CredentialValues {
  readonly provider: string;
  /** The secret; empty in a change = it stays. */
  readonly key: string;
  readonly name: string;
  readonly workspace_id: string;
  readonly use: Use;
  /** One a line; empty = no restriction. */
  readonly allowed_models: string;
  readonly allowed_api_key_hashes: string;
}

export function credentialValues(credential: ByokObject | null, workspaceId: string): CredentialValues {
  return {
    provider: credential?.provider ?? '',
    key: '',
    name: credential?.name ?? '',
    workspace_id: credential === null ? workspaceId : (credential.workspace_id ?? EVERY_WORKSPACE),
    use: credential === null ? 'first' : useOf(credential),
    allowed_models: (credential?.allowed_models ?? []).join('\n'),
    allowed_api_key_hashes: (credential?.allowed_api_key_hashes ?? []).join('\n'),
  };
}

export function credentialProblems(values: CredentialValues, isNew: boolean): Problems<CredentialValues> {
  return {
    ...(values.provider.trim() === '' && { provider: 'Choose the provider that it is for.' }),
    ...(isNew && values.key.trim() === '' && { key: 'Paste the key of the provider.' }),
  };
}

const listOrNull = (text: string): string[] | null => {
  const lines = linesOf(text);
  return lines.length === 0 ? null : lines;
};

/** The members that create and change have in common. */
function members(values: CredentialValues) {
  return {
    name: values.name.trim() === '' ? null : values.name.trim(),
    ...USES[values.use],
    allowed_models: listOrNull(values.allowed_models),
    allowed_api_key_hashes: listOrNull(values.allowed_api_key_hashes),
  };
}

/** The body of `POST /byok`. */
export function createBody(values: CredentialValues): CreateByok {
  return {
    provider: values.provider.trim(),
    key: values.key.trim(),
    workspace_id: values.workspace_id === EVERY_WORKSPACE ? null : values.workspace_id,
    ...members(values),
  };
}

/** The body of `PATCH /byok/{id}`: what differs. */
export function updateBody(values: CredentialValues, credential: ByokObject): UpdateByok {
  const changed = Object.entries(members(values)).filter(
    ([name, value]) => JSON.stringify(credential[name as keyof ByokObject]) !== JSON.stringify(value),
  );
  return { ...Object.fromEntries(changed), ...(values.key.trim() !== '' && { key: values.key.trim() }) };
}
