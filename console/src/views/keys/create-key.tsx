import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { KeyObject, WorkspaceObject } from '../../api/contract.ts';
import { curlOf } from '../../api/curl.ts';
import { ask } from '../../api/request.ts';
import { servedAt } from '../../api/served-at.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { SelectField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { useForm } from '../../parts/form/use-form.ts';
import { SecretDialog } from '../../parts/secret-dialog.tsx';
import { GuardrailLinks } from './guardrail-links.tsx';
import { ExpiryField, LimitFields, MinuteFields, NameField } from './key-fields.tsx';
import { createBody, earlierBudget, keyProblems, newKeyValues } from './key-form.ts';
import { keyMeans } from './key-means.tsx';
import { ModelsField } from './models-field.tsx';

interface Issued {
  readonly data: KeyObject;
  readonly key: string;
}

interface Props {
  readonly workspaces: readonly WorkspaceObject[];
  /** The workspace that is chosen at first. */
  readonly workspaceId: string;
  readonly onClose: () => void;
}

/** Asks for the settings of a key, makes it, and shows its secret once. */
export function CreateKey({ workspaces, workspaceId, onClose }: Props) {
  const queries = useQueryClient();
  const [issued, setIssued] = useState<Issued | null>(null);
  const form = useForm({
    initial: newKeyValues(workspaceId),
    check: (values) => keyProblems(values, Date.now()),
    save: async (values) => {
      setIssued(await ask<Issued>('/keys', { method: 'POST', body: createBody(values) }));
      await queries.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  if (issued !== null) return <CreatedKey issued={issued} onClose={onClose} />;
  const workspace = workspaces.find(({ id }) => id === form.values.workspace_id);
  return (
    <FormDialog
      title="Create a key"
      action="Create key"
      form={form}
      means={keyMeans(form.values, workspace, Date.now())}
      call={{ method: 'POST', path: '/keys', body: createBody(form.values) }}
      onClose={onClose}
    >
      <NameField field={form.field('name')} />
      <SelectField
        field={form.field('workspace_id')}
        label="Workspace"
        options={workspaces.map(({ id, name }) => [id, name] as const)}
      />
      <LimitFields
        limit={form.field('limit')}
        reset={form.field('limit_reset')}
        byok={form.field('include_byok_in_limit')}
        warning={earlierBudget(form.values, workspace?.budgets ?? [])}
      />
      <ModelsField field={form.field('allowed_models')} />
      <MinuteFields requests={form.field('requests_per_minute')} tokens={form.field('tokens_per_minute')} />
      <ExpiryField field={form.field('expires_at')} />
    </FormDialog>
  );
}

function CreatedKey({ issued, onClose }: { readonly issued: Issued; readonly onClose: () => void }) {
  const { base } = servedAt();
  const command = curlOf({ method: 'GET', path: '/key' }, base, 'KEY');
  return (
    <SecretDialog title={`Key created: ${issued.data.name}`} secret={issued.key} onClose={onClose}>
      {issued.data.guardrails !== undefined && issued.data.guardrails.length > 0 && (
        <p>
          Guardrails that apply to it: <GuardrailLinks guardrails={issued.data.guardrails} />
        </p>
      )}
      <p>
        Clients take it with the address <code>{base}</code>. This shows what the key may spend, and costs
        nothing:
      </p>
      <div class="code">
        <CopyButton text={command} what="the command" />
        <pre>{command}</pre>
      </div>
    </SecretDialog>
  );
}
