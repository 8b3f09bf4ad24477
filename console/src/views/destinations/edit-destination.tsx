import { useMutation, useQueryClient } from '@tanstack/preact-query';
import type {
  ConnectionTestObject,
  DestinationObject,
  DestinationTypeObject,
  DestinationTypes,
  WorkspaceObject,
} from '../../api/contract.ts';
import { ask, send } from '../../api/request.ts';
import { WORKSPACES_QUERY } from '../../api/workspaces.ts';
import { counted } from '../../format/numbers.ts';
import { CheckField, linesOf, SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { type Form, useForm } from '../../parts/form/use-form.ts';
import { FailureNote } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';
import {
  createBody,
  type DestinationValues,
  destinationProblems,
  destinationValues,
  updateBody,
} from './destination-form.ts';
import { RulesEditor } from './rules-editor.tsx';

interface Props {
  /** Null = a new one. */
  readonly destination: DestinationObject | null;
  readonly type: DestinationTypeObject;
  readonly types: DestinationTypes;
  readonly workspaces: readonly WorkspaceObject[];
  readonly workspaceId: string;
  /** A new one of another type. */
  readonly onType: (type: string) => void;
  readonly onClose: () => void;
}

/** Makes a destination, or changes one. Its secrets are written, never read. */
export function EditDestination(props: Props) {
  const { destination, type, types, workspaces, workspaceId, onType, onClose } = props;
  const queries = useQueryClient();
  const isDeclared = destination?.managed_by === 'file';
  const fields = types.filter_fields;
  const workspaceOf = ({ workspace_id: of }: DestinationValues): Partial<WorkspaceObject> =>
    workspaces.find(({ id }) => id === of) ?? {};
  const form = useForm<DestinationValues>({
    initial: destinationValues(destination, type, workspaceId),
    check: (values) => destinationProblems(values, type, destination === null),
    save: async (values) => {
      if (destination === null) {
        await send('/observability/destinations', { method: 'POST', body: createBody(values, type, fields) });
        toast(`Generations are sent to ${values.name.trim()} from now on.`);
      } else {
        const body = updateBody(values, type, fields, destination);
        if (Object.keys(body).length > 0) {
          await send(`/observability/destinations/${destination.id}`, { method: 'PATCH', body });
          toast(`${values.name.trim()} was changed.`);
        }
      }
      const { id, is_observability_broadcast_enabled: isSending } = workspaceOf(values);
      if (values.switches_workspace_on && isSending === false) {
        await send(`/workspaces/${id}`, {
          method: 'PATCH',
          body: { is_observability_broadcast_enabled: true },
        });
        await queries.invalidateQueries({ queryKey: WORKSPACES_QUERY });
      }
      await queries.invalidateQueries({ queryKey: ['destinations'] });
      onClose();
    },
  });
  const { values } = form;
  const shown = redacted(values, type);
  const workspace = workspaceOf(values);
  return (
    <FormDialog
      title={destination === null ? 'Add a destination' : destination.name}
      action={destination === null ? 'Add destination' : 'Save changes'}
      form={form}
      means={meansOf(values, type, workspace, isDeclared)}
      call={
        destination === null
          ? { method: 'POST', path: '/observability/destinations', body: createBody(shown, type, fields) }
          : {
              method: 'PATCH',
              path: `/observability/destinations/${destination.id}`,
              body: updateBody(shown, type, fields, destination),
            }
      }
      isReadOnly={isDeclared}
      onClose={onClose}
    >
      <div class="f-row g2">
        <SelectField
          field={{ ...form.field('type'), onValue: onType }}
          label="Receiver"
          options={types.data.map(({ type: name, label }) => [name, label] as const)}
          disabled={destination !== null}
        />
        <SelectField
          field={form.field('workspace_id')}
          label="Workspace"
          options={workspaces.map(({ id, name }) => [id, name] as const)}
          disabled={destination !== null}
        />
      </div>
      {workspace.is_observability_broadcast_enabled === false && (
        <CheckField
          field={form.field('switches_workspace_on')}
          label={`Have ${workspace.name} send`}
          disabled={workspace.managed_by === 'file'}
          hint={
            workspace.managed_by === 'file'
              ? 'The configuration file declares this workspace: set is_observability_broadcast_enabled there.'
              : 'It sends nothing to its destinations until this is switched on.'
          }
        />
      )}
      <TextField field={form.field('name')} label="Name" maxLength={255} disabled={isDeclared} />
      {type.members.map((member) => (
        <ConfigMember
          key={member.name}
          form={form}
          member={member}
          stored={destination?.config[member.name]}
          isDisabled={isDeclared}
        />
      ))}
      {destination !== null && <ConnectionTest id={destination.id} />}
      <CheckField
        field={form.field('privacy_mode')}
        label="Send no prompts and answers"
        disabled={isDeclared}
        hint="Figures, times and names alone."
      />
      <CheckField
        field={form.field('broadcast_generation_cost')}
        label="Send what it cost"
        disabled={isDeclared}
      />
      <CheckField
        field={form.field('broadcast_generation_identity')}
        label="Send who asked"
        disabled={isDeclared}
        hint="The workspace, the hash of the key and its creator."
      />
      <CheckField
        field={form.field('broadcast_generation_request_context')}
        label="Send how it was asked"
        disabled={isDeclared}
        hint="The id of the request, user agent, app, origin and preset."
      />
      <TextField
        field={form.field('sampling_rate')}
        label="Share of sessions that is sent, per cent"
        disabled={isDeclared}
      />
      <TextField
        field={form.field('api_key_hashes')}
        label="Only of keys"
        isMono
        lines={2}
        disabled={isDeclared}
        hint="Hashes, one a line. Empty: all keys of the workspace."
      />
      <RulesEditor field={form.field('filter_rules')} fields={fields} isDisabled={isDeclared} />
    </FormDialog>
  );
}

interface MemberProps {
  readonly form: Form<DestinationValues>;
  readonly member: DestinationTypeObject['members'][number];
  /** As the gateway shows it: secrets are masked. */
  readonly stored: unknown;
  readonly isDisabled: boolean;
}

/** A member of the configuration. */
function ConfigMember({ form, member, stored, isDisabled }: MemberProps) {
  const { name, kind, values, is_secret: isSecret, default: fallback } = member;
  const description = member.description.replaceAll('`', '');
  const field = form.field(`config.${name}`);
  const shared = { label: titleOf(name), hint: description, disabled: isDisabled } as const;
  if (kind === 'choice') {
    return <SelectField {...shared} field={field} options={(values ?? []).map((each) => [each, each])} />;
  }
  const isKept = isSecret && stored !== undefined && stored !== null;
  const label = typeof stored === 'string' ? stored : Object.keys(stored ?? {}).join(', ');
  return (
    <TextField
      {...shared}
      field={field}
      isMono
      lines={kind === 'headers' ? 2 : 1}
      isSecret={isSecret && kind !== 'headers'}
      placeholder={isKept ? `${label}; empty: it stays` : (fallback ?? '')}
      hint={kind === 'headers' ? `${description} One a line, as NAME: VALUE.` : description}
    />
  );
}

/** `secretAccessKey` as "Secret access key". */
export function titleOf(member: string): string {
  const words = member.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  return title.replaceAll(/\b(?:api|url|id|dsn)\b/gi, (short) =>
    short === 'id' ? short : short.toUpperCase(),
  );
}

/** Tries the stored connection. */
function ConnectionTest({ id }: { readonly id: string }) {
  const testing = useMutation({
    mutationFn: async () =>
      (
        await ask<{ data: ConnectionTestObject }>(`/observability/destinations/${id}/test`, {
          method: 'POST',
        })
      ).data,
  });
  const outcome = testing.data;
  return (
    <div class="f-row">
      <div class="r">
        <button class="b" type="button" disabled={testing.isPending} onClick={() => testing.mutate()}>
          Test the connection
        </button>
        <span class="sm" role="status">
          {testing.isPending && 'Waiting for an answer…'}
          {outcome?.success === true && `It answers with ${outcome.status}.`}
          {outcome?.success === false && <span class="bad">{outcome.message}</span>}
        </span>
      </div>
      {testing.isError && <FailureNote error={testing.error} />}
    </div>
  );
}

/** With placeholders for secrets: what is copied must not hold them. */
function redacted(values: DestinationValues, type: DestinationTypeObject): DestinationValues {
  const secrets = type.members.filter(
    ({ name, is_secret: isSecret }) => isSecret && (values[`config.${name}`] ?? '') !== '',
  );
  return {
    ...values,
    ...Object.fromEntries(
      secrets.map(({ name, kind }) => [
        `config.${name}`,
        kind === 'headers' ? 'NAME: $VALUE' : `$${name.replaceAll(/([A-Z])/g, '_$1').toUpperCase()}`,
      ]),
    ),
  };
}

function meansOf(
  values: DestinationValues,
  type: DestinationTypeObject,
  workspace: Partial<WorkspaceObject>,
  isDeclared: boolean,
) {
  const staysOff = workspace.managed_by === 'file' || !values.switches_workspace_on;
  const keys = linesOf(values.api_key_hashes).length;
  const percent = Number(values.sampling_rate);
  const groups = values.filter_rules.filter(({ rules }) => rules.length > 0).length;
  return [
    ...(isDeclared
      ? [<>The configuration file of the gateway declares this destination, so it is changed there.</>]
      : []),
    ...(workspace.is_observability_broadcast_enabled === false && staysOff
      ? [
          <>
            <b>{workspace.name} sends nothing</b> to its destinations.
          </>,
        ]
      : []),
    <>
      After each answer, a trace of it goes to <b>{type.label}</b>:{' '}
      {percent < 100 ? `${percent} % of sessions` : 'every session'}
      {', '}
      {keys === 0 ? 'of all keys' : `of ${counted(keys, 'key')}`}
      {groups > 0 &&
        `, if ${groups === 1 ? 'the rules accept it' : `any of ${groups} groups of rules accepts it`}`}
      .
    </>,
    values.privacy_mode ? (
      <>Prompts and answers stay here.</>
    ) : (
      <>
        <b>Prompts and answers are sent</b>, except those of zero-retention requests. What a guardrail
        redacted is sent redacted.
      </>
    ),
    <>No request waits for it. While it is away, generations wait within bounds; the oldest leave first.</>,
  ];
}
