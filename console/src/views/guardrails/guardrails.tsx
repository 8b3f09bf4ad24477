import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import type { GuardrailObject, WorkspaceObject } from '../../api/contract.ts';
import { ask, send } from '../../api/request.ts';
import { defaultWorkspaceId, useWorkspaces, workspaceName } from '../../api/workspaces.ts';
import { limitColumn } from '../../format/money.ts';
import { count, counted } from '../../format/numbers.ts';
import { dateTime } from '../../format/times.ts';
import { PER_WINDOW } from '../../format/windows.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { useForm } from '../../parts/form/use-form.ts';
import { Icon } from '../../parts/icon.tsx';
import { useShortcut } from '../../parts/keyboard.ts';
import { RowMenu } from '../../parts/row-menu.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { toast } from '../../parts/toast.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { WorkspaceChoice } from '../../parts/workspace-choice.tsx';
import { appliesTo } from './applies-to.ts';
import { GuardrailEditor } from './guardrail-editor.tsx';

const PAGE = 100;

/** The list of guardrails, or the editor of one. */
export function Guardrails() {
  const { path } = useAddress();
  const id = path.split('/')[2];
  return id === undefined || id === '' ? <GuardrailList /> : <GuardrailEditor key={id} id={id} />;
}

interface GuardrailPage {
  readonly data: GuardrailObject[];
  readonly total_count: number;
}

function GuardrailList() {
  const address = useAddress();
  const queries = useQueryClient();
  const workspaces = useWorkspaces().data;
  const [deleting, setDeleting] = useState<GuardrailObject | null>(null);
  const workspaceId = address.query.get('workspace');
  const list = useInfiniteQuery({
    queryKey: ['guardrails', 'list', workspaceId],
    queryFn: ({ pageParam }) =>
      ask<GuardrailPage>('/guardrails', {
        query: {
          limit: PAGE,
          offset: pageParam,
          include_assigned_counts: true,
          ...(workspaceId === null ? { all_workspaces: true } : { workspace_id: workspaceId }),
        },
      }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => {
      const read = pages.reduce((sum, page) => sum + page.data.length, 0);
      return read < last.total_count && last.data.length > 0 ? read : undefined;
    },
  });
  const create = () => go(`${addressWith({ ...address, fragment: '' }, {})}#create`);
  useShortcut('c', create);
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const total = list.data?.pages.at(-1)?.total_count;
  const remove = async ({ id, name }: GuardrailObject): Promise<void> => {
    await send(`/guardrails/${id}`, { method: 'DELETE' });
    toast(`${name} was deleted.`);
    await queries.invalidateQueries({ queryKey: ['guardrails'] });
  };
  return (
    <>
      <TopBar title="Guardrails" detail={total === undefined ? undefined : count(total)}>
        <Link class="b wide" href="/guardrails/default">
          Guardrail of the account
        </Link>
        <button class="b pri" type="button" onClick={create}>
          <Icon name="plus" size={14} />
          Create guardrail
          <kbd class="wide">C</kbd>
        </button>
      </TopBar>
      <search class="filters">
        <WorkspaceChoice all="All workspaces" />
      </search>
      <main id="main">
        {list.isError && (
          <div class="pad">
            <FailureNote error={list.error} onRetry={() => list.refetch()} />
          </div>
        )}
        {list.isPending && <SkeletonRows />}
        {list.data !== undefined && rows.length === 0 && (
          <Empty title={workspaceId === null ? 'No guardrails yet' : 'This workspace has no guardrails'}>
            <p>
              A guardrail holds rules that keys cannot evade: which models and providers they may use, what
              they may spend, and which texts are blocked, redacted or flagged. It applies to nothing until it
              is assigned.
            </p>
            <button class="b pri" type="button" onClick={create}>
              Create guardrail
            </button>
          </Empty>
        )}
        {rows.length > 0 && (
          <DataTable
            label="Guardrails"
            columns={columnsOf(rows, workspaces, setDeleting)}
            rows={rows}
            idOf={({ id }) => id}
            onOpen={({ id }) => go(`/guardrails/${id}`)}
            onEnd={list.hasNextPage && !list.isFetchingNextPage ? () => void list.fetchNextPage() : undefined}
          />
        )}
      </main>
      {address.fragment === 'create' && workspaces !== undefined && (
        <CreateGuardrail
          workspaces={workspaces}
          workspaceId={workspaceId ?? defaultWorkspaceId(workspaces)}
          onClose={() => go(addressWith({ ...address, fragment: '' }, {}))}
        />
      )}
      {deleting !== null && (
        <Confirm
          title={`Delete ${deleting.name}?`}
          action="Delete guardrail"
          keep="Keep it"
          typed={deleting.name}
          onConfirm={() => remove(deleting)}
          onClose={() => setDeleting(null)}
        >
          <p>
            Its rules stop for every key and member that it is assigned to, with their next request. This
            cannot be taken back.
          </p>
        </Confirm>
      )}
    </>
  );
}

function columnsOf(
  guardrails: readonly GuardrailObject[],
  workspaces: readonly WorkspaceObject[] | undefined,
  onDelete: (guardrail: GuardrailObject) => void,
): readonly Column<GuardrailObject>[] {
  const money = limitColumn(guardrails.flatMap(({ limit_usd: limit }) => limit ?? []));
  return [
    {
      name: 'name',
      title: 'Guardrail',
      cell: ({ name }) => (
        <b class="cut" title={name}>
          {name}
        </b>
      ),
    },
    {
      name: 'applies',
      title: 'Applies to',
      cell: (guardrail) => {
        const words = appliesTo(guardrail, workspaceName(workspaces, guardrail.workspace_id));
        return words === undefined ? (
          <span class="dim">nothing yet</span>
        ) : (
          <span class="cut" title={words}>
            {words}
          </span>
        );
      },
    },
    {
      name: 'workspace',
      title: 'Workspace',
      width: 'c-150',
      priority: 3,
      cell: ({ workspace_id: id }) => workspaceName(workspaces, id),
    },
    { name: 'filters', title: 'Filters', priority: 2, cell: (guardrail) => filterText(guardrail) },
    { name: 'models', title: 'Models and providers', priority: 3, cell: (guardrail) => routeText(guardrail) },
    {
      name: 'limit',
      title: 'Budget',
      width: 'c-150',
      isNumber: true,
      cell: ({ limit_usd: limit, reset_interval: reset }) =>
        limit === null ? '–' : `${money(limit)} ${PER_WINDOW[reset ?? 'lifetime']}`,
    },
    {
      name: 'changed',
      title: 'Changed',
      width: 'c-130',
      priority: 3,
      cell: ({ updated_at: updated, created_at: created }) => dateTime(Date.parse(updated ?? created)),
    },
    {
      name: 'actions',
      title: 'Actions',
      isTitleHidden: true,
      width: 'c-60',
      isNumber: true,
      cell: (guardrail) =>
        guardrail.managed_by === 'file' ? (
          <span class="tag line">file</span>
        ) : (
          <RowMenu
            of={guardrail.name}
            actions={[
              { title: 'Edit', run: `/guardrails/${guardrail.id}` },
              { title: 'Delete', run: () => onDelete(guardrail) },
            ]}
          />
        ),
    },
  ];
}

/** Numbers of filters, by their action. */
function filterText({
  content_filter_builtins: builtins,
  content_filters: filters,
  service,
}: GuardrailObject): string {
  const all = [...(builtins ?? []), ...(filters ?? [])];
  const parts = (['block', 'redact', 'flag'] as const).flatMap((action) => {
    const number = all.filter((filter) => filter.action === action).length;
    return number === 0 ? [] : [`${number} ${action}`];
  });
  return [...parts, ...(service === null ? [] : ['service'])].join(', ') || '–';
}

function routeText(guardrail: GuardrailObject): string {
  const parts = [
    ['only', guardrail.allowed_models, 'model'],
    ['without', guardrail.ignored_models, 'model'],
    ['only', guardrail.allowed_providers, 'provider'],
    ['without', guardrail.ignored_providers, 'provider'],
  ] as const;
  return (
    parts
      .flatMap(([word, list, noun]) => (list === null ? [] : [`${word} ${counted(list.length, noun)}`]))
      .join(', ') || 'all'
  );
}

interface CreateProps {
  readonly workspaces: readonly WorkspaceObject[];
  readonly workspaceId: string;
  readonly onClose: () => void;
}

interface CreateValues {
  readonly name: string;
  readonly description: string;
  readonly workspace_id: string;
}

function CreateGuardrail({ workspaces, workspaceId, onClose }: CreateProps) {
  const queries = useQueryClient();
  const bodyOf = ({ name, description, workspace_id }: CreateValues) => ({
    name: name.trim(),
    ...(description.trim() !== '' && { description: description.trim() }),
    workspace_id,
  });
  const form = useForm<CreateValues>({
    initial: { name: '', description: '', workspace_id: workspaceId },
    check: ({ name }) => (name.trim() === '' ? { name: 'Give it a name.' } : {}),
    save: async (values) => {
      const { data } = await ask<{ data: GuardrailObject }>('/guardrails', {
        method: 'POST',
        body: bodyOf(values),
      });
      await queries.invalidateQueries({ queryKey: ['guardrails'] });
      toast(`${data.name} was created.`);
      go(`/guardrails/${data.id}`);
    },
  });
  return (
    <FormDialog
      title="Create a guardrail"
      action="Create guardrail"
      form={form}
      call={{ method: 'POST', path: '/guardrails', body: bodyOf(form.values) }}
      means={[
        'It holds no rules yet: the editor opens next.',
        'It applies to no request until it is assigned to a key or a member.',
      ]}
      onClose={onClose}
    >
      <TextField label="Name" field={form.field('name')} maxLength={200} />
      <TextField label="Description" field={form.field('description')} lines={3} maxLength={1000} />
      <SelectField
        label="Workspace"
        field={form.field('workspace_id')}
        options={workspaces.map(({ id, name }) => [id, name] as const)}
        hint="Where it is listed; it does not say what it applies to."
      />
    </FormDialog>
  );
}
