import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { ProviderTestObject, WorkspaceObject } from '../../api/contract.ts';
import { ask, send } from '../../api/request.ts';
import { useWorkspaces } from '../../api/workspaces.ts';
import { count, counted } from '../../format/numbers.ts';
import { FieldRow, SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { type FieldState, type Form, useForm } from '../../parts/form/use-form.ts';
import { Icon } from '../../parts/icon.tsx';
import { FailureNote } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';
import {
  createBody,
  DIALECTS,
  isOwnServer,
  type ModelChoice,
  type ProviderValues,
  providerProblems,
  providerValues,
  type ServedProvider,
  testBody,
  updateBody,
  withListed,
} from './provider-form.ts';
import { TestResult } from './test-result.tsx';

interface Props {
  readonly provider: ServedProvider;
  readonly onClose: () => void;
}

/** Gives a provider its key, tests it with a real call, and has the gateway serve it: no restart. */
export function ServeProvider({ provider, onClose }: Props) {
  const queries = useQueryClient();
  const workspaces = useWorkspaces();
  const isOwn = isOwnServer(provider);
  const { stored } = provider;
  const form = useForm<ProviderValues>({
    initial: providerValues(provider),
    check: (values) => providerProblems(values, provider),
    save: async (values) => {
      if (stored === null) {
        await send('/gateway/providers', { method: 'POST', body: createBody(values, provider) });
      } else {
        const body = updateBody(values, provider);
        await send(`/gateway/providers/${stored.slug}`, { method: 'PATCH', body });
      }
      toast(`${isOwn ? values.slug : provider.name} ${stored === null ? 'is served' : 'was changed'}.`);
      await queries.invalidateQueries();
      onClose();
    },
  });
  const { values } = form;
  const models = form.field('models');
  const testing = useMutation({
    mutationFn: () =>
      ask<{ data: ProviderTestObject }>('/gateway/providers/test', {
        method: 'POST',
        body: testBody(values, provider),
      }),
    onSuccess: ({ data }) => {
      if (isOwn) models.onValue(withListed(values.models, data.models));
    },
  });
  const problems = providerProblems(values, provider);
  const isTestable = problems.slug === undefined && (problems.base_url ?? problems.key) === undefined;
  return (
    <FormDialog
      title={titleOf(provider)}
      action={stored === null ? 'Serve' : 'Save changes'}
      form={form}
      means={meansOf(values, provider)}
      call={callOf(values, provider)}
      onClose={onClose}
    >
      {isOwn && <OwnServer form={form} isNew={stored === null} />}
      <TextField
        field={form.field('key')}
        label="Key"
        isSecret
        isMono
        placeholder={stored?.label == null ? '' : `${stored.label}; empty: it stays`}
        hint={
          isOwn
            ? 'Empty: it needs none. Stored encrypted, never shown again.'
            : 'Or its JSON document in one line. Stored encrypted, never shown again.'
        }
      />
      <div class="f-row">
        <div class="r wrap">
          <button
            class="b"
            type="button"
            disabled={!isTestable || testing.isPending}
            onClick={() => testing.mutate()}
          >
            <Icon name="play" size={14} />
            {isOwn ? 'Test and list models' : 'Test'}
          </button>
          <span class="sm t3">
            {testing.isPending ? 'Asking…' : 'Asks it for its models. Stores nothing, costs nothing.'}
          </span>
        </div>
      </div>
      {testing.isError && <FailureNote error={testing.error} onRetry={() => testing.mutate()} />}
      {testing.data !== undefined && !testing.isPending && (
        <div class="f-row">
          <TestResult test={testing.data.data} />
        </div>
      )}
      {isOwn && <Models field={models} />}
      <Places field={form.field('workspace_ids')} workspaces={workspaces.data ?? []} />
    </FormDialog>
  );
}

function titleOf({ slug, name, stored }: ServedProvider): string {
  if (slug === null) return 'Add a server of your own';
  return stored === null ? `Serve ${name}` : `Change ${name}`;
}

function OwnServer({ form, isNew }: { readonly form: Form<ProviderValues>; readonly isNew: boolean }) {
  return (
    <>
      <TextField
        field={form.field('base_url')}
        label="Address"
        isMono
        placeholder="http://127.0.0.1:11434/v1"
        hint="Up to the path of the interface. It may be private."
      />
      <div class="f-row g2">
        <TextField
          field={form.field('slug')}
          label="Slug"
          isMono
          placeholder="workshop"
          disabled={!isNew}
          hint="Its name in requests and in the log."
        />
        <SelectField field={form.field('dialect')} label="It speaks" options={DIALECTS} />
      </div>
    </>
  );
}

/** Models beyond these are found by the search alone. */
const MAX_SHOWN = 60;

/** The models of a server: which are served, and for how much. */
function Models({ field }: { readonly field: FieldState<readonly ModelChoice[]> }) {
  const [search, setSearch] = useState('');
  const { value: models, onValue } = field;
  if (models.length === 0) return null;
  const found = models.filter(({ model, id }) => `${model} ${id}`.includes(search.trim()));
  const change = (changed: ModelChoice) =>
    onValue(models.map((model) => (model.model === changed.model ? changed : model)));
  const serveAll = (isServed: boolean) => onValue(models.map((model) => ({ ...model, isServed })));
  return (
    <FieldRow
      field={field}
      label={`Models to serve: ${models.filter(({ isServed }) => isServed).length} of ${models.length}`}
      hint="Prices in $ per million tokens, in and out. Empty is free: it costs $0 and no limit counts it."
    >
      <div class="mdl-s">
        <input
          class="in-t"
          id={field.id}
          type="search"
          placeholder="Find a model"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <button class="b" type="button" onClick={() => serveAll(true)}>
          All
        </button>
        <button class="b" type="button" onClick={() => serveAll(false)}>
          None
        </button>
      </div>
      <ul class="mdl" aria-label="Models">
        {found.slice(0, MAX_SHOWN).map((model) => (
          <ModelRow key={model.model} model={model} onChange={change} />
        ))}
      </ul>
      {found.length > MAX_SHOWN && (
        <p class="sm t3">
          The first {MAX_SHOWN} of {count(found.length)}: search for the others.
        </p>
      )}
    </FieldRow>
  );
}

interface RowProps {
  readonly model: ModelChoice;
  readonly onChange: (model: ModelChoice) => void;
}

function ModelRow({ model, onChange }: RowProps) {
  const { model: name, id, contextLength, isServed } = model;
  return (
    <li>
      <label class="ck">
        <input
          type="checkbox"
          checked={isServed}
          onChange={(event) => onChange({ ...model, isServed: event.currentTarget.checked })}
        />
        <span class="cut" title={`${name}, offered as ${id}`}>
          {name}
        </span>
      </label>
      <span class="sm t3 num">{contextLength === null ? '' : `${count(contextLength)} tokens`}</span>
      {(['prompt', 'completion'] as const).map((side) => (
        <input
          key={side}
          class="in-t num"
          inputMode="decimal"
          autocomplete="off"
          aria-label={`$ per million tokens ${side === 'prompt' ? 'in' : 'out'}, ${name}`}
          placeholder={side === 'prompt' ? 'in: free' : 'out: free'}
          disabled={!isServed}
          value={model[side]}
          onInput={(event) => onChange({ ...model, [side]: event.currentTarget.value })}
        />
      ))}
    </li>
  );
}

interface PlacesProps {
  readonly field: FieldState<readonly string[] | null>;
  readonly workspaces: readonly WorkspaceObject[];
}

/** Which workspaces it serves: all, or those that are ticked. */
function Places({ field, workspaces }: PlacesProps) {
  const { value: ids, onValue } = field;
  if (workspaces.length < 2 && ids === null) return null;
  const toggle = (id: string, isIn: boolean) =>
    onValue(isIn ? [...(ids ?? []), id] : (ids ?? []).filter((each) => each !== id));
  return (
    <FieldRow field={field} label="Serves the requests of">
      <select
        class="in-t"
        id={field.id}
        value={ids === null ? 'all' : 'some'}
        onChange={(event) => onValue(event.currentTarget.value === 'all' ? null : [])}
      >
        <option value="all">All workspaces</option>
        <option value="some">Some workspaces</option>
      </select>
      {ids !== null && (
        <div class="cks">
          {workspaces.map(({ id, name }) => (
            <label key={id} class="ck">
              <input
                type="checkbox"
                checked={ids.includes(id)}
                onChange={(event) => toggle(id, event.currentTarget.checked)}
              />
              {name}
            </label>
          ))}
        </div>
      )}
    </FieldRow>
  );
}

/** The request, with a placeholder for the key: what is copied must not hold it. */
function callOf(values: ProviderValues, provider: ServedProvider) {
  const shown = { ...values, key: values.key.trim() === '' ? '' : '$PROVIDER_KEY' };
  return provider.stored === null
    ? ({ method: 'POST', path: '/gateway/providers', body: createBody(shown, provider) } as const)
    : ({
        method: 'PATCH',
        path: `/gateway/providers/${provider.stored.slug}`,
        body: updateBody(shown, provider),
      } as const);
}

function meansOf(values: ProviderValues, provider: ServedProvider) {
  const served = values.models.filter(({ isServed }) => isServed);
  const free = served.filter(({ prompt, completion }) => Number(prompt) + Number(completion) === 0);
  const where =
    values.workspace_ids === null ? 'all workspaces' : counted(values.workspace_ids.length, 'workspace');
  return [
    <>It serves at once, without a restart, at this gateway and all that share its database.</>,
    isOwnServer(provider) ? (
      <>
        Requests of <b>{where}</b> may use <b>{counted(served.length, 'model')}</b> of it.
      </>
    ) : (
      <>
        Requests of <b>{where}</b> may use every model of {provider.name} that the catalogue knows.
      </>
    ),
    ...(free.length > 0
      ? [
          <>
            <b>{counted(free.length, 'model')}</b> cost{free.length === 1 ? 's' : ''} nothing here, so that no
            limit or budget counts {free.length === 1 ? 'it' : 'them'}.
          </>,
        ]
      : []),
    <>The provider bills you; the gateway charges the keys of callers by its prices.</>,
    <>The file and the environment win: while they set a provider of this name, this one waits.</>,
  ];
}
