import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import type { ByokObject, WorkspaceObject } from '../../api/contract.ts';
import { readOfWorkspace } from '../../api/read-pages.ts';
import { send } from '../../api/request.ts';
import { useWorkspaces, workspaceName } from '../../api/workspaces.ts';
import { count, counted } from '../../format/numbers.ts';
import { date } from '../../format/times.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useShortcut } from '../../parts/keyboard.ts';
import { RowMenu } from '../../parts/row-menu.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { sorted, sortOf, sortText } from '../../parts/table/sort.ts';
import { toast } from '../../parts/toast.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { WorkspaceChoice } from '../../parts/workspace-choice.tsx';
import { useOf } from './credential-form.ts';
import { EditCredential, USE_TITLES } from './edit-credential.tsx';

/** Credentials that the account brought for providers. `#ID` opens one, `#create` a new one. */
export function Credentials() {
  const address = useAddress();
  const queries = useQueryClient();
  const workspaces = useWorkspaces();
  const workspaceId = address.query.get('workspace');
  const { data, isPending, isError, error, refetch } = useQuery({
    queryKey: ['byok', workspaceId],
    queryFn: () => readOfWorkspace<ByokObject>('/byok', workspaceId),
  });
  const [deleting, setDeleting] = useState<ByokObject | null>(null);
  const open = (fragment: string): void => {
    const plain = addressWith({ ...address, fragment: '' }, {});
    go(fragment === '' ? plain : `${plain}#${fragment}`);
  };
  useShortcut('c', () => {
    if (address.fragment === '' && deleting === null) open('create');
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ['byok'] });
  const setDisabled = async (credential: ByokObject, isDisabled: boolean): Promise<void> => {
    await send(`/byok/${credential.id}`, { method: 'PATCH', body: { disabled: isDisabled } });
    toast(`The credential for ${credential.provider} is ${isDisabled ? 'disabled' : 'enabled'}.`, () =>
      setDisabled(credential, !isDisabled),
    );
    await refresh();
  };
  const disabling = useMutation({
    mutationFn: (change: { readonly credential: ByokObject; readonly isDisabled: boolean }) =>
      setDisabled(change.credential, change.isDisabled),
  });
  const remove = async ({ id, provider }: ByokObject): Promise<void> => {
    await send(`/byok/${id}`, { method: 'DELETE' });
    toast(`The credential for ${provider} was deleted.`);
    await refresh();
  };
  const sort = sortOf(address.query.get('sort'));
  const columns = columnsOf(workspaces.data, {
    open,
    setDisabled: (credential, isDisabled) => disabling.mutate({ credential, isDisabled }),
    remove: setDeleting,
  });
  const by = columns.find(({ name }) => name === sort?.by)?.sortValue;
  const rows = by === undefined ? (data ?? []) : sorted(data ?? [], by, sort?.isDescending ?? false);
  const chosen = data?.find(({ id }) => id === address.fragment);
  const isOpen = chosen !== undefined || address.fragment === 'create';
  return (
    <>
      <TopBar title="Provider keys" detail={data === undefined ? undefined : count(data.length)}>
        <button class="b pri" type="button" onClick={() => open('create')}>
          <Icon name="plus" size={14} />
          Add credential
          <kbd class="wide">C</kbd>
        </button>
      </TopBar>
      <search class="filters">
        <WorkspaceChoice all="All workspaces" />
      </search>
      <main id="main">
        {(isError || disabling.isError) && (
          <div class="pad">
            <FailureNote
              error={disabling.error ?? error}
              onRetry={disabling.isError ? undefined : () => void refetch()}
            />
          </div>
        )}
        {isPending && <SkeletonRows />}
        {data?.length === 0 && (
          <NoCredentials isNarrowed={workspaceId !== null} onCreate={() => open('create')} />
        )}
        {rows.length > 0 && (
          <DataTable
            label="Provider keys"
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            sort={sort}
            onSort={(next) => go(addressWith(address, { sort: sortText(next) }))}
            onOpen={({ id }) => open(id)}
            isQuiet={({ disabled }) => disabled}
          />
        )}
      </main>
      {isOpen && workspaces.data !== undefined && (
        <EditCredential
          key={address.fragment}
          credential={chosen ?? null}
          workspaces={workspaces.data}
          workspaceId={workspaceId ?? ''}
          onClose={() => open('')}
        />
      )}
      {deleting !== null && (
        <Confirm
          title={`Delete the credential for ${deleting.provider}?`}
          action="Delete credential"
          keep="Keep it"
          typed={deleting.label}
          onConfirm={() => remove(deleting)}
          onClose={() => setDeleting(null)}
        >
          <p>
            Its secret is wiped from the gateway’s disk. From the next request on, {deleting.provider} is
            called with the gateway’s own key, if it has one. Requests in flight are finished with this one.
          </p>
        </Confirm>
      )}
    </>
  );
}

interface Actions {
  readonly open: (fragment: string) => void;
  readonly setDisabled: (credential: ByokObject, isDisabled: boolean) => void;
  readonly remove: (credential: ByokObject) => void;
}

function columnsOf(
  workspaces: readonly WorkspaceObject[] | undefined,
  { open, setDisabled, remove }: Actions,
): readonly Column<ByokObject>[] {
  const placeOf = ({ workspace_id: id }: ByokObject) =>
    id === null ? 'Every workspace' : workspaceName(workspaces, id);
  return [
    {
      name: 'provider',
      title: 'Provider',
      width: 'c-200',
      sortValue: ({ provider }) => provider,
      cell: ({ provider, disabled, managed_by: by }) => (
        <span class="r">
          <b class="cut">{provider}</b>
          {disabled && <span class="tag">disabled</span>}
          {by === 'file' && <span class="tag line">file</span>}
        </span>
      ),
    },
    {
      name: 'name',
      title: 'Name',
      sortValue: ({ name }) => name,
      cell: ({ name }) => (name === null ? <span class="dim">–</span> : <span title={name}>{name}</span>),
    },
    {
      name: 'secret',
      title: 'Secret',
      width: 'c-120',
      priority: 2,
      cell: ({ label }) => <code class="dim">{label}</code>,
    },
    { name: 'workspace', title: 'Workspace', width: 'c-150', priority: 2, sortValue: placeOf, cell: placeOf },
    {
      name: 'used',
      title: 'Used',
      width: 'c-190',
      priority: 2,
      sortValue: (credential) => USE_TITLES[useOf(credential)],
      cell: (credential) => USE_TITLES[useOf(credential)],
    },
    { name: 'for', title: 'For', width: 'c-150', priority: 3, cell: (credential) => forWhat(credential) },
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
          of={`${row.provider} ${row.name ?? row.label}`}
          actions={
            row.managed_by === 'file'
              ? [{ title: 'Show', run: () => open(row.id) }]
              : [
                  { title: 'Edit', run: () => open(row.id) },
                  { title: row.disabled ? 'Enable' : 'Disable', run: () => setDisabled(row, !row.disabled) },
                  { title: 'Delete', run: () => remove(row) },
                ]
          }
        />
      ),
    },
  ];
}

/** What a credential is restricted to, counted. */
function forWhat({
  allowed_models: models,
  allowed_api_key_hashes: keys,
  allowed_user_ids: users,
}: ByokObject) {
  const parts = [
    ...(models === null ? [] : [counted(models.length, 'model')]),
    ...(keys === null ? [] : [counted(keys.length, 'key')]),
    ...(users === null ? [] : [counted(users.length, 'user')]),
  ];
  return parts.length === 0 ? <span class="dim">all models and keys</span> : parts.join(', ');
}

function NoCredentials({
  isNarrowed,
  onCreate,
}: {
  readonly isNarrowed: boolean;
  readonly onCreate: () => void;
}) {
  return (
    <Empty title={isNarrowed ? 'No credentials for this workspace' : 'No credentials of your own yet'}>
      <p>
        The gateway calls providers with the keys of its configuration. A credential of your own is used in
        their place: the provider bills you, and you choose which models and keys it is for.
      </p>
      <div class="r">
        <button class="b pri" type="button" onClick={onCreate}>
          Add credential
        </button>
        {isNarrowed && (
          <Link class="b" href="/credentials">
            Show all workspaces
          </Link>
        )}
      </div>
    </Empty>
  );
}
