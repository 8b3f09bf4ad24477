import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import type { KeyObject, WorkspaceObject } from '../../api/contract.ts';
import { partMeta } from '../../api/part.ts';
import { ask, send } from '../../api/request.ts';
import { useWorkspaces, WORKSPACES_QUERY } from '../../api/workspaces.ts';
import { count, counted, percent } from '../../format/numbers.ts';
import { date } from '../../format/times.ts';
import { shareSpent } from '../../parts/budget-bar.tsx';
import { BudgetLine, budgetMoney } from '../../parts/budget-line.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useShortcut } from '../../parts/keyboard.ts';
import { RowMenu } from '../../parts/row-menu.tsx';
import { FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { sorted, sortOf, sortText } from '../../parts/table/sort.ts';
import { toast } from '../../parts/toast.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { EditBudgets } from './edit-budgets.tsx';
import { EditWorkspace } from './edit-workspace.tsx';

/** Workspaces and their budgets. `#ID` opens the budgets of one, `#edit-ID` its settings, `#create` a new one. */
export function Workspaces() {
  const address = useAddress();
  const queries = useQueryClient();
  const { data, isPending, isError, error, refetch } = useWorkspaces();
  const [deleting, setDeleting] = useState<WorkspaceObject | null>(null);
  const open = (fragment: string): void => {
    const plain = addressWith({ ...address, fragment: '' }, {});
    go(fragment === '' ? plain : `${plain}#${fragment}`);
  };
  const close = () => open('');
  useShortcut('c', () => {
    if (address.fragment === '' && deleting === null) open('create');
  });
  const sort = sortOf(address.query.get('sort'));
  const columns = columnsOf(data ?? [], { open, remove: setDeleting });
  const by = columns.find(({ name }) => name === sort?.by)?.sortValue;
  const rows = by === undefined ? (data ?? []) : sorted(data ?? [], by, sort?.isDescending ?? false);
  const chosen = data?.find(({ id }) => address.fragment === id);
  const edited = data?.find(({ id }) => address.fragment === `edit-${id}`);
  const remove = async ({ id, name }: WorkspaceObject): Promise<void> => {
    await send(`/workspaces/${id}`, { method: 'DELETE' });
    toast(`${name} was deleted.`);
    await queries.invalidateQueries({ queryKey: WORKSPACES_QUERY });
  };
  return (
    <>
      <TopBar title="Workspaces" detail={data === undefined ? undefined : count(data.length)}>
        <button class="b pri" type="button" onClick={() => open('create')}>
          <Icon name="plus" size={14} />
          Create workspace
          <kbd class="wide">C</kbd>
        </button>
      </TopBar>
      <main id="main">
        <p class="cut-note">
          A request must fit the limit of its key, every budget of its workspace and the balance of the
          account: the first that is used up stops it.
        </p>
        {isError && (
          <div class="pad">
            <FailureNote error={error} onRetry={() => refetch()} />
          </div>
        )}
        {isPending && <SkeletonRows />}
        {rows.length > 0 && (
          <DataTable
            label="Workspaces"
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            rowHeight={46}
            sort={sort}
            onSort={(next) => go(addressWith(address, { sort: sortText(next) }))}
            onOpen={({ id }) => open(id)}
          />
        )}
      </main>
      {address.fragment === 'create' && <EditWorkspace workspace={null} onClose={close} />}
      {edited !== undefined && <EditWorkspace key={edited.id} workspace={edited} onClose={close} />}
      {chosen !== undefined && <EditBudgets key={chosen.id} workspace={chosen} onClose={close} />}
      {deleting !== null && (
        <Confirm
          title={`Delete ${deleting.name}?`}
          action="Delete workspace"
          keep="Keep it"
          typed={deleting.name}
          onConfirm={() => remove(deleting)}
          onClose={() => setDeleting(null)}
        >
          <DeletionEffect workspace={deleting} />
        </Confirm>
      )}
    </>
  );
}

interface Actions {
  readonly open: (fragment: string) => void;
  readonly remove: (workspace: WorkspaceObject) => void;
}

function columnsOf(
  workspaces: readonly WorkspaceObject[],
  { open, remove }: Actions,
): readonly Column<WorkspaceObject>[] {
  const money = budgetMoney(workspaces.flatMap((workspace) => fullest(workspace)?.budget ?? []));
  return [
    {
      name: 'name',
      title: 'Name',
      width: 'c-240',
      sortValue: ({ name }) => name,
      cell: ({ name, slug, managed_by: by }) => (
        <span class="r">
          <b class="cut" title={name}>
            {name}
          </b>
          <code class="dim wide">{slug}</code>
          {by === 'file' && <span class="tag line">file</span>}
        </span>
      ),
    },
    {
      name: 'budget',
      title: 'Highest use',
      isLargestFirst: true,
      sortValue: (workspace) => fullest(workspace)?.share ?? null,
      cell: (workspace) => {
        const found = fullest(workspace);
        return found === null ? (
          <span class="dim">no budget</span>
        ) : (
          <BudgetLine budget={found.budget} money={money} />
        );
      },
    },
    {
      name: 'budgets',
      title: 'Budgets',
      width: 'c-76',
      priority: 2,
      isNumber: true,
      sortValue: ({ budgets = [] }) => budgets.length,
      cell: ({ budgets = [] }) => (budgets.length === 0 ? <span class="dim">–</span> : budgets.length),
    },
    {
      name: 'stored',
      title: 'Prompts stored',
      width: 'c-120',
      priority: 2,
      cell: ({ is_observability_io_logging_enabled: isStored, io_logging_sampling_rate: share }) =>
        isStored ? percent(share, 0) : <span class="dim">no</span>,
    },
    {
      name: 'model',
      title: 'Default model',
      width: 'c-200',
      priority: 4,
      cell: ({ default_text_model: model }) =>
        model === null ? <span class="dim">–</span> : <span title={model}>{model}</span>,
    },
    {
      name: 'created',
      title: 'Created',
      width: 'c-104',
      priority: 3,
      sortValue: ({ created_at: at }) => at,
      cell: ({ created_at: at }) => <span class="dim">{date(Date.parse(at))}</span>,
    },
    {
      name: 'actions',
      title: 'Actions',
      isTitleHidden: true,
      width: 'c-72',
      cell: (workspace) => (
        <RowMenu
          of={workspace.name}
          actions={[
            { title: 'Budgets', run: () => open(workspace.id) },
            { title: 'Settings', run: () => open(`edit-${workspace.id}`) },
            { title: 'Show its keys', run: `/keys?workspace=${workspace.id}` },
            ...(workspace.managed_by === 'file' || workspace.slug === 'default'
              ? []
              : [{ title: 'Delete', run: () => remove(workspace) }]),
          ]}
        />
      ),
    },
  ];
}

/** The budget of which most is spent; null = there is none. */
function fullest({ budgets = [] }: WorkspaceObject) {
  const shares = budgets.map((budget) => ({
    budget,
    share: shareSpent(budget.used_usd, budget.limit_usd),
  }));
  return shares.sort((one, other) => other.share - one.share)[0] ?? null;
}

/** What goes with a workspace, counted. */
function DeletionEffect({ workspace }: { readonly workspace: WorkspaceObject }) {
  const keys = useQuery({
    queryKey: ['keys', 'of', workspace.id],
    meta: partMeta('The number of keys'),
    queryFn: () =>
      ask<{ data: readonly KeyObject[] }>('/keys', {
        query: { workspace_id: workspace.id, include_disabled: true },
      }),
  });
  const found = keys.data?.data ?? [];
  const active = found.filter(
    ({ disabled, expires_at: at }) => !disabled && !(at !== null && Date.parse(at) < Date.now()),
  );
  return (
    <>
      <p>
        Its own provider keys, guardrails and files are deleted, with{' '}
        {counted(workspace.budgets?.length ?? 0, 'budget')} and{' '}
        <b>{keys.data === undefined ? '…' : counted(found.length, 'key')}</b>
        {found.length === 100 && ' or more'}. What they spent stays in the log. It cannot be brought back.
      </p>
      {active.length > 0 && (
        <p class="err soft">
          <Icon name="warning" size={14} />
          <span>
            {counted(active.length, 'active key')}: the gateway refuses to delete it until they are disabled
            or revoked.
          </span>
        </p>
      )}
    </>
  );
}
