import { useQueryClient } from '@tanstack/preact-query';
import type { ByokObject, WorkspaceObject } from '../../api/contract.ts';
import { useAllProviders } from '../../api/providers.ts';
import { send } from '../../api/request.ts';
import { counted } from '../../format/numbers.ts';
import { linesOf, SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { useForm } from '../../parts/form/use-form.ts';
import { toast } from '../../parts/toast.tsx';
import {
  type CredentialValues,
  createBody,
  credentialProblems,
  credentialValues,
  EVERY_WORKSPACE,
  type Use,
  updateBody,
} from './credential-form.ts';

/** What each use is called, and does. */
export const USE_TITLES: Readonly<Record<Use, string>> = {
  first: 'before shared endpoints',
  fallback: 'after shared endpoints',
  required: 'alone, for its models',
  only: 'alone, for all models',
};

const USE_MEANINGS: Readonly<Record<Use, string>> = {
  first: 'It is tried first. If it fails, endpoints with the gateway’s own key of the provider are tried.',
  fallback: 'It is tried only after the endpoints with the gateway’s own key of the provider.',
  required: 'For the models that it covers, no endpoint with the gateway’s own key of the provider is used.',
  only: 'No endpoint with the gateway’s own key of the provider is used, for any model.',
};

interface Props {
  /** Null = a new one. */
  readonly credential: ByokObject | null;
  readonly workspaces: readonly WorkspaceObject[];
  readonly workspaceId: string;
  readonly onClose: () => void;
}

/** Stores a credential for a provider, or changes one. Its secret is written, never read. */
export function EditCredential({ credential, workspaces, workspaceId, onClose }: Props) {
  const queries = useQueryClient();
  const isDeclared = credential?.managed_by === 'file';
  const providers = useAllProviders();
  const form = useForm<CredentialValues>({
    initial: credentialValues(credential, workspaceId),
    check: (values) => credentialProblems(values, credential === null),
    save: async (values) => {
      if (credential === null) {
        await send('/byok', { method: 'POST', body: createBody(values) });
        toast(`A credential for ${values.provider} was stored.`);
      } else {
        const body = updateBody(values, credential);
        if (Object.keys(body).length > 0) {
          await send(`/byok/${credential.id}`, { method: 'PATCH', body });
          toast(`The credential for ${credential.provider} was changed.`);
        }
      }
      await queries.invalidateQueries({ queryKey: ['byok'] });
      onClose();
    },
  });
  const { values } = form;
  const places = [
    [EVERY_WORKSPACE, 'Every workspace'] as const,
    ...workspaces.map(({ id, name }) => [id, name] as const),
  ];
  return (
    <FormDialog
      title={credential === null ? 'Add a credential' : `Credential for ${credential.provider}`}
      action={credential === null ? 'Add credential' : 'Save changes'}
      form={form}
      means={meansOf(values, credential, isDeclared, places)}
      call={callOf(values, credential)}
      isReadOnly={isDeclared}
      onClose={onClose}
    >
      <TextField
        field={form.field('provider')}
        label="Provider"
        isMono
        suggestions={(providers.data ?? []).map(({ slug, name }) => [slug, name] as const)}
        disabled={credential !== null}
        hint="As its slug, such as openai; mcp:LABEL for an MCP server of the configuration."
      />
      <TextField
        field={form.field('key')}
        label="Secret"
        isSecret
        isMono
        disabled={isDeclared}
        placeholder={credential === null ? '' : `${credential.label}; empty: it stays`}
        hint="The provider’s key, or its JSON document in one line. Stored encrypted, never shown again."
      />
      <div class="f-row g2">
        <TextField field={form.field('name')} label="Name" maxLength={255} disabled={isDeclared} />
        <SelectField
          field={form.field('workspace_id')}
          label="Workspace"
          options={places}
          disabled={credential !== null}
        />
      </div>
      <SelectField
        field={form.field('use')}
        label="Used"
        options={Object.entries(USE_TITLES) as [Use, string][]}
        disabled={isDeclared}
      />
      <TextField
        field={form.field('allowed_models')}
        label="Only for models"
        isMono
        lines={2}
        disabled={isDeclared}
        hint="Ids, one a line. Empty: all models of the provider."
      />
      <TextField
        field={form.field('allowed_api_key_hashes')}
        label="Only for keys"
        isMono
        lines={2}
        disabled={isDeclared}
        hint="Hashes, one a line. Empty: all keys of the workspace."
      />
    </FormDialog>
  );
}

/** The request, with a placeholder for the secret: what is copied must not hold it. */
function callOf(values: CredentialValues, credential: ByokObject | null) {
  const shown = { ...values, key: values.key === '' ? '' : '$PROVIDER_KEY' };
  return credential === null
    ? ({ method: 'POST', path: '/byok', body: createBody(shown) } as const)
    : ({ method: 'PATCH', path: `/byok/${credential.id}`, body: updateBody(shown, credential) } as const);
}

function meansOf(
  values: CredentialValues,
  credential: ByokObject | null,
  isDeclared: boolean,
  places: readonly (readonly [string, string])[],
) {
  const models = linesOf(values.allowed_models).length;
  const keys = linesOf(values.allowed_api_key_hashes).length;
  const place = places.find(([id]) => id === values.workspace_id)?.[1];
  return [
    ...(isDeclared
      ? [<>The configuration file of the gateway declares this credential, so it is changed there.</>]
      : []),
    USE_MEANINGS[values.use],
    <>
      It serves <b>{models === 0 ? 'all models' : counted(models, 'model')}</b> of the provider, for{' '}
      <b>{keys === 0 ? 'all keys' : counted(keys, 'key')}</b> of{' '}
      <b>{values.workspace_id === EVERY_WORKSPACE ? 'every workspace' : place}</b>.
    </>,
    <>
      The provider bills you for what it serves. The gateway charges nothing, and records the list price
      beside it.
    </>,
    ...(credential !== null && values.key !== ''
      ? [<>The new secret replaces the old one in place. Requests in flight finish with the old one.</>]
      : []),
    <>The secret is stored encrypted, and neither this console nor the API ever shows it.</>,
  ];
}
