import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import type { DestinationObject, DestinationTypes, WorkspaceObject } from '../../api/contract.ts';
import { partMeta } from '../../api/part.ts';
import { readOfWorkspace } from '../../api/read-pages.ts';
import { ask, send } from '../../api/request.ts';
import { useWorkspaces, workspaceName } from '../../api/workspaces.ts';
import { count } from '../../format/numbers.ts';
import { date } from '../../format/times.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FollowerState, followerRank } from '../../parts/follower-state.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useShortcut } from '../../parts/keyboard.ts';
import { RowMenu } from '../../parts/row-menu.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { sorted, sortOf, sortText } from '../../parts/table/sort.ts';
import { toast } from '../../parts/toast.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { WorkspaceChoice } from '../../parts/workspace-choice.tsx';
import { EditDestination } from './edit-destination.tsx';

const PATH = '/observability/destinations';

/** How often it is read how sending goes, milliseconds. */
const REFRESH_MS = 10_000;

/** Where generations are sent as traces. `#ID` opens one, `#create` a new one. */
export function Destinations() {
  const address = useAddress();
  const queries = useQueryClient();
  const workspaces = useWorkspaces();
  const workspaceId = address.query.get('workspace');
  const { data, isPending, isError, error, refetch } = useQuery({
    queryKey: ['destinations', workspaceId],
    queryFn: () => readOfWorkspace<DestinationObject>(PATH, workspaceId),
    refetchInterval: REFRESH_MS,
  });
  const types = useQuery({
    queryKey: ['destination-types'],
    meta: partMeta('The types of destinations'),
    queryFn: () => ask<DestinationTypes>('/observability/destination-types'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [newType, setNewType] = useState('otel-collector');
  const [deleting, setDeleting] = useState<DestinationObject | null>(null);
  const open = (fragment: string): void => {
    const plain = addressWith({ ...address, fragment: '' }, {});
    go(fragment === '' ? plain : `${plain}#${fragment}`);
  };
  useShortcut('c', () => {
    if (address.fragment === '' && deleting === null) open('create');
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ['destinations'] });
  const setEnabled = async ({ id, name }: DestinationObject, isEnabled: boolean): Promise<void> => {
    await send(`${PATH}/${id}`, { method: 'PATCH', body: { enabled: isEnabled } });
    toast(`${name} is ${isEnabled ? 'enabled' : 'disabled'}.`, () =>
      setEnabled({ id, name } as DestinationObject, !isEnabled),
    );
    await refresh();
  };
  const switching = useMutation({
    mutationFn: (change: { readonly destination: DestinationObject; readonly isEnabled: boolean }) =>
      setEnabled(change.destination, change.isEnabled),
  });
  const remove = async ({ id, name }: DestinationObject): Promise<void> => {
    await send(`${PATH}/${id}`, { method: 'DELETE' });
    toast(`${name} was deleted.`);
    await refresh();
  };
  const columns = columnsOf(workspaces.data, types.data, {
    open,
    setEnabled: (destination, isEnabled) => switching.mutate({ destination, isEnabled }),
    remove: setDeleting,
  });
  const sort = sortOf(address.query.get('sort'));
  const by = columns.find(({ name }) => name === sort?.by)?.sortValue;
  const rows = by === undefined ? (data ?? []) : sorted(data ?? [], by, sort?.isDescending ?? false);
  const chosen = data?.find(({ id }) => id === address.fragment);
  const isOpen = chosen !== undefined || address.fragment === 'create';
  const type = types.data?.data.find((each) => each.type === (chosen?.type ?? newType));
  return (
    <>
      <TopBar title="Destinations" detail={data === undefined ? undefined : count(data.length)}>
        <button class="b pri" type="button" onClick={() => open('create')}>
          <Icon name="plus" size={14} />
          Add destination
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
          <Empty title="No destinations yet">
            <p>
              A destination gets a trace of each generation after its answer: an OpenTelemetry collector,
              Langfuse, Datadog, a bucket, and others. No request waits for it.
            </p>
            <button class="b pri" type="button" onClick={() => open('create')}>
              Add destination
            </button>
          </Empty>
        )}
        {rows.length > 0 && (
          <DataTable
            label="Destinations"
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            sort={sort}
            onSort={(next) => go(addressWith(address, { sort: sortText(next) }))}
            onOpen={({ id }) => open(id)}
            isQuiet={({ enabled }) => !enabled}
          />
        )}
      </main>
      {isOpen && workspaces.data !== undefined && types.data !== undefined && type !== undefined && (
        <EditDestination
          key={`${address.fragment} ${type.type}`}
          destination={chosen ?? null}
          type={type}
          types={types.data}
          workspaces={workspaces.data}
          workspaceId={workspaceId ?? workspaces.data[0]?.id ?? ''}
          onType={setNewType}
          onClose={() => open('')}
        />
      )}
      {deleting !== null && (
        <Confirm
          title={`Delete ${deleting.name}?`}
          action="Delete destination"
          keep="Keep it"
          typed={deleting.name}
          onConfirm={() => remove(deleting)}
          onClose={() => setDeleting(null)}
        >
          <p>
            Its secrets are wiped. Generations that wait for it are not sent; what it has received stays
            there.
          </p>
        </Confirm>
      )}
    </>
  );
}

interface Actions {
  readonly open: (fragment: string) => void;
  readonly setEnabled: (destination: DestinationObject, isEnabled: boolean) => void;
  readonly remove: (destination: DestinationObject) => void;
}

function columnsOf(
  workspaces: readonly WorkspaceObject[] | undefined,
  types: DestinationTypes | undefined,
  { open, setEnabled, remove }: Actions,
): readonly Column<DestinationObject>[] {
  const placeOf = ({ workspace_id: id }: DestinationObject) => workspaceName(workspaces, id);
  const isSilent = (of: string) =>
    workspaces?.find(({ id }) => id === of)?.is_observability_broadcast_enabled === false;
  const labelOf = ({ type }: DestinationObject) =>
    types?.data.find((each) => each.type === type)?.label ?? type;
  return [
    {
      name: 'name',
      title: 'Name',
      sortValue: ({ name }) => name,
      cell: ({ name, enabled, managed_by: by }) => (
        <span class="r">
          <b class="cut">{name}</b>
          {!enabled && <span class="tag">disabled</span>}
          {by === 'file' && <span class="tag line">file</span>}
        </span>
      ),
    },
    { name: 'type', title: 'Receiver', width: 'c-240', priority: 2, sortValue: labelOf, cell: labelOf },
    { name: 'workspace', title: 'Workspace', width: 'c-150', priority: 2, sortValue: placeOf, cell: placeOf },
    {
      name: 'content',
      title: 'Prompts and answers',
      width: 'c-150',
      priority: 2,
      cell: ({ privacy_mode: isPrivate }) => (isPrivate ? <span class="dim">not sent</span> : 'sent'),
    },
    {
      name: 'delivery',
      title: 'Delivery',
      width: 'c-150',
      sortValue: ({ state }) => followerRank(state),
      cell: ({ enabled, state, workspace_id: id }) =>
        isSilent(id) ? (
          <span
            class="tag warn"
            title="Its workspace sends nothing: edit the destination or the workspace to switch that on."
          >
            workspace is off
          </span>
        ) : (
          <FollowerState isOn={enabled} state={state} />
        ),
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
      name: 'created',
      title: 'Added',
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
      cell: (row) => (
        <RowMenu
          of={row.name}
          actions={
            row.managed_by === 'file'
              ? [{ title: 'Show', run: () => open(row.id) }]
              : [
                  { title: 'Edit', run: () => open(row.id) },
                  { title: row.enabled ? 'Disable' : 'Enable', run: () => setEnabled(row, !row.enabled) },
                  { title: 'Delete', run: () => remove(row) },
                ]
          }
        />
      ),
    },
  ];
}
