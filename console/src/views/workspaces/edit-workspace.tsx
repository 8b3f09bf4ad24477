import { useQueryClient } from '@tanstack/preact-query';
import type { WorkspaceObject } from '../../api/contract.ts';
import { send } from '../../api/request.ts';
import { WORKSPACES_QUERY } from '../../api/workspaces.ts';
import { CheckField, SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { useForm } from '../../parts/form/use-form.ts';
import { toast } from '../../parts/toast.tsx';
import {
  slugOf,
  type WorkspaceValues,
  workspaceBody,
  workspaceProblems,
  workspaceValues,
} from './workspace-form.ts';

const SORTS = [
  ['', 'mostly the cheapest'],
  ['price', 'always the cheapest'],
  ['throughput', 'most tokens a second'],
  ['latency', 'first token soonest'],
  ['exacto', 'best at tools'],
] as const;

interface Props {
  /** Null = a new one. */
  readonly workspace: WorkspaceObject | null;
  readonly onClose: () => void;
}

/** Creates a workspace, or changes its settings. */
export function EditWorkspace({ workspace, onClose }: Props) {
  const queries = useQueryClient();
  const isDeclared = workspace?.managed_by === 'file';
  const request = (body: object) =>
    workspace === null
      ? ({ method: 'POST', path: '/workspaces', body } as const)
      : ({ method: 'PATCH', path: `/workspaces/${workspace.id}`, body } as const);
  const change = async (body: object): Promise<void> => {
    const { path, ...rest } = request(body);
    await send(path, rest);
    await queries.invalidateQueries({ queryKey: WORKSPACES_QUERY });
  };
  const form = useForm<WorkspaceValues>({
    initial: workspaceValues(workspace),
    check: workspaceProblems,
    save: async (values) => {
      const body = workspaceBody(values, workspace);
      if (Object.keys(body).length > 0) {
        await change(body);
        if (workspace === null) toast(`${values.name} was created.`);
        else {
          const before = Object.fromEntries(
            Object.keys(body).map((name) => [name, workspace[name as keyof WorkspaceObject]]),
          );
          toast(`${workspace.name} was changed.`, () => change(before));
        }
      }
      onClose();
    },
  });
  const name = form.field('name');
  const slug = form.field('slug');
  return (
    <FormDialog
      title={workspace === null ? 'Create a workspace' : workspace.name}
      action={workspace === null ? 'Create workspace' : 'Save changes'}
      form={form}
      means={meansOf(form.values, isDeclared)}
      call={request(workspaceBody(form.values, workspace))}
      isReadOnly={isDeclared}
      onClose={onClose}
    >
      <TextField
        field={{
          ...name,
          onValue: (value) => {
            // The slug follows the name until it is typed itself.
            if (workspace === null && slug.value === slugOf(name.value)) slug.onValue(slugOf(value));
            name.onValue(value);
          },
        }}
        label="Name"
        maxLength={100}
        disabled={isDeclared}
      />
      <TextField
        field={slug}
        label="Slug"
        isMono
        maxLength={50}
        disabled={isDeclared}
        hint="Names it in addresses, commands and metrics."
      />
      <TextField field={form.field('description')} label="Description" lines={2} disabled={isDeclared} />
      <div class="f-row g2">
        <TextField
          field={form.field('default_text_model')}
          label="Default model"
          isMono
          placeholder="none"
          disabled={isDeclared}
        />
        <SelectField
          field={form.field('default_provider_sort')}
          label="Endpoints by default"
          options={SORTS}
          disabled={isDeclared}
        />
      </div>
      <CheckField
        field={form.field('is_observability_io_logging_enabled')}
        label="Store prompts and outputs"
        disabled={isDeclared}
        hint="The log shows them. Without it only figures and metadata are kept."
      />
      {form.values.is_observability_io_logging_enabled && (
        <TextField
          field={form.field('io_logging_sampling_rate')}
          label="Share of requests that is stored, per cent"
          disabled={isDeclared}
        />
      )}
      <CheckField
        field={form.field('is_observability_broadcast_enabled')}
        label="Send generations to destinations"
        disabled={isDeclared}
        hint="Without it the destinations of this workspace get nothing."
      />
    </FormDialog>
  );
}

function meansOf(values: WorkspaceValues, isDeclared: boolean) {
  const model = values.default_text_model.trim();
  return [
    ...(isDeclared
      ? [<>The configuration file of the gateway declares this workspace, so it is changed there.</>]
      : []),
    <>
      It has keys, own provider keys, files, guardrails and budgets of its own. Keys see nothing of others.
    </>,
    model === '' ? (
      <>Requests have to name a model.</>
    ) : (
      <>
        Requests that name no model, where the format allows that, are for <b>{model}</b>.
      </>
    ),
    values.is_observability_io_logging_enabled ? (
      <>
        Prompts and outputs of <b>{values.io_logging_sampling_rate} %</b> of later requests are stored on the
        gateway’s disk until they are too old.
      </>
    ) : (
      <>Prompts and outputs are not stored.</>
    ),
    <>Budgets limit what its keys spend together. Set them in the list.</>,
  ];
}
