import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import type { ClassifierObject, WorkspaceObject } from '../../api/contract.ts';
import { readOfWorkspace } from '../../api/read-pages.ts';
import { send } from '../../api/request.ts';
import { useWorkspaces, workspaceName } from '../../api/workspaces.ts';
import { columnMoney } from '../../format/money.ts';
import { count } from '../../format/numbers.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FollowerState, followerRank } from '../../parts/follower-state.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useShortcut } from '../../parts/keyboard.ts';
import { MoneyText } from '../../parts/money-text.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { sorted, sortOf, sortText } from '../../parts/table/sort.ts';
import { toast } from '../../parts/toast.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { WorkspaceChoice } from '../../parts/workspace-choice.tsx';
import { EditClassifier } from './edit-classifier.tsx';

/** What tags generations with answers of a model. `#ID` opens one, `#create` a new one. */
export function Classifiers() {
  const address = useAddress();
  const queries = useQueryClient();
  const workspaces = useWorkspaces();
  const workspaceId = address.query.get('workspace');
  const { data, isPending, isError, error, refetch } = useQuery({
    queryKey: ['classifiers', workspaceId],
    queryFn: () => readOfWorkspace<ClassifierObject>('/classifiers', workspaceId),
  });
  const [deleting, setDeleting] = useState<ClassifierObject | null>(null);
  const open = (fragment: string): void => {
    const plain = addressWith({ ...address, fragment: '' }, {});
    go(fragment === '' ? plain : `${plain}#${fragment}`);
  };
  useShortcut('c', () => {
    if (address.fragment === '' && deleting === null) open('create');
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ['classifiers'] });
  const switching = useMutation({
    mutationFn: async ({ id, name, is_active: wasActive }: ClassifierObject) => {
      await send(`/classifiers/${id}`, { method: 'PATCH', body: { is_active: !wasActive } });
      toast(`${name} ${wasActive ? 'classifies nothing any more' : 'classifies from now on'}.`);
      await refresh();
    },
  });
  const remove = async ({ id, name }: ClassifierObject): Promise<void> => {
    await send(`/classifiers/${id}`, { method: 'DELETE' });
    toast(`${name} was deleted.`);
    await refresh();
  };
  const columns = columnsOf(workspaces.data, { open, toggle: switching.mutate, remove: setDeleting });
  const sort = sortOf(address.query.get('sort'));
  const by = columns.find(({ name }) => name === sort?.by)?.sortValue;
  const rows = by === undefined ? (data ?? []) : sorted(data ?? [], by, sort?.isDescending ?? false);
  const chosen = data?.find(({ id }) => id === address.fragment);
  const isOpen = chosen !== undefined || address.fragment === 'create';
  return (
    <>
      <TopBar title="Classifiers" detail={data === undefined ? undefined : count(data.length)}>
        <button class="b pri" type="button" onClick={() => open('create')}>
          <Icon name="plus" size={14} />
          Add classifier
          <kbd class="wide">C</kbd>
        </button>
      </TopBar>
      <search class="filters">
        <WorkspaceChoice all="All workspaces" />
      </search>
      <main id="main">
        {(isError || switching.isError) && (
          <div class="pad">
            <FailureNote
              error={switching.error ?? error}
              onRetry={switching.isError ? undefined : () => void refetch()}
            />
          </div>
        )}
        {isPending && <SkeletonRows />}
        {data?.length === 0 && (
          <Empty title="No classifiers yet">
            <p>
              A classifier has a model answer questions about generations after their answers: the topic, the
              language, the mood. Analytics can then be grouped and filtered by what it said. No request waits
              for it.
            </p>
            <button class="b pri" type="button" onClick={() => open('create')}>
              Add classifier
            </button>
          </Empty>
        )}
        {rows.length > 0 && (
          <DataTable
            label="Classifiers"
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            sort={sort}
            onSort={(next) => go(addressWith(address, { sort: sortText(next) }))}
            onOpen={({ id }) => open(id)}
            isQuiet={({ is_active: isActive }) => !isActive}
          />
        )}
      </main>
      {isOpen && workspaces.data !== undefined && (
        <EditClassifier
          key={address.fragment}
          classifier={chosen ?? null}
          workspaces={workspaces.data}
          workspaceId={workspaceId ?? workspaces.data[0]?.id ?? ''}
          onClose={() => open('')}
        />
      )}
      {deleting !== null && (
        <Confirm
          title={`Delete ${deleting.name}?`}
          action="Delete classifier"
          keep="Keep it"
          typed={deleting.name}
          onConfirm={() => remove(deleting)}
          onClose={() => setDeleting(null)}
        >
          <p>Analytics can no longer be grouped or filtered by its tags. What it has cost stays charged.</p>
        </Confirm>
      )}
    </>
  );
}

interface Actions {
  readonly open: (fragment: string) => void;
  readonly toggle: (classifier: ClassifierObject) => void;
  readonly remove: (classifier: ClassifierObject) => void;
}

function columnsOf(
  workspaces: readonly WorkspaceObject[] | undefined,
  { open, toggle, remove }: Actions,
): readonly Column<ClassifierObject>[] {
  const placeOf = ({ workspace_id: id }: ClassifierObject) => workspaceName(workspaces, id);
  return [
    {
      name: 'name',
      title: 'Name',
      sortValue: ({ name }) => name,
      cell: ({ name, is_active: isActive, managed_by: by, last_problem: problem }) => (
        <span class="r">
          <b class="cut">{name}</b>
          {!isActive && <span class="tag">off</span>}
          {by === 'file' && <span class="tag line">file</span>}
          {problem !== null && (
            <span class="tag warn" title={problem.message}>
              problem
            </span>
          )}
        </span>
      ),
    },
    {
      name: 'asks',
      title: 'Asks for',
      priority: 2,
      cell: ({ dimensions }) => <span class="cut dim">{dimensions.map(({ name }) => name).join(', ')}</span>,
    },
    {
      name: 'model',
      title: 'Model',
      width: 'c-240',
      priority: 2,
      sortValue: ({ model }) => model,
      cell: ({ model }) => <span class="cut">{model}</span>,
    },
    { name: 'workspace', title: 'Workspace', width: 'c-150', priority: 3, sortValue: placeOf, cell: placeOf },
    {
      name: 'progress',
      title: 'Progress',
      width: 'c-240',
      priority: 2,
      sortValue: ({ state }) => followerRank(state),
      cell: ({ is_active: isActive, state }) => <FollowerState isOn={isActive} state={state} />,
    },
    {
      name: 'share',
      title: 'Sessions',
      width: 'c-84',
      isNumber: true,
      priority: 3,
      cell: ({ sampling_rate: rate }) => `${Number((rate * 100).toFixed(4))} %`,
    },
    {
      name: 'used',
      title: 'This month',
      width: 'c-104',
      isNumber: true,
      sortValue: ({ used_usd: usd }) => usd,
      cell: ({ used_usd: usd }) => <MoneyText money={columnMoney(usd)} />,
    },
    {
      name: 'actions',
      title: 'Actions',
      isTitleHidden: true,
      width: 'c-72',
      cell: (row) => (
        <RowMenu
          of={row.name}
          actions={
            row.managed_by === 'file'
              ? [{ title: 'Show', run: () => open(row.id) }]
              : [
                  { title: 'Edit', run: () => open(row.id) },
                  { title: row.is_active ? 'Switch off' : 'Switch on', run: () => toggle(row) },
                  { title: 'Delete', run: () => remove(row) },
                ]
          }
        />
      ),
    },
  ];
}
