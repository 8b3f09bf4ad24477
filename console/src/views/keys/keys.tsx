import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useCallback, useMemo, useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import type { KeyObject } from '../../api/contract.ts';
import { useRefusedNow } from '../../api/refused.ts';
import { send } from '../../api/request.ts';
import { defaultWorkspaceId, useWorkspaces } from '../../api/workspaces.ts';
import { shortMoney } from '../../format/money.ts';
import { count } from '../../format/numbers.ts';
import { zoneName } from '../../format/times.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useShortcut } from '../../parts/keyboard.ts';
import { SearchBox } from '../../parts/search-box.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import { sorted, sortOf, sortText } from '../../parts/table/sort.ts';
import { toast } from '../../parts/toast.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { useReserved } from '../../parts/use-reserved.ts';
import { WorkspaceChoice } from '../../parts/workspace-choice.tsx';
import { BudgetStrip } from './budget-strip.tsx';
import { CreateKey } from './create-key.tsx';
import { OpenKey } from './edit-key.tsx';
import { keyColumns } from './key-columns.tsx';
import { isStateGroup, refusingKeys, STATE_GROUPS, type StateGroup, stateOf } from './key-facts.ts';
import { MAX_COMPARED_KEYS, useKeys } from './use-keys.ts';

const HASH = /^[0-9a-f]{64}$/;

/** Keys of the account: what they spent of what, and what can be changed of them. */
export function Keys() {
  const address = useAddress();
  const queries = useQueryClient();
  const workspaces = useWorkspaces();
  const [revoking, setRevoking] = useState<KeyObject | null>(null);
  const workspaceId = address.query.get('workspace');
  const search = address.query.get('search');
  const sort = sortOf(address.query.get('sort'));
  const stateText = address.query.get('state');
  const state = isStateGroup(stateText) ? stateText : null;
  const isCompared = sort !== null || state !== null;
  const { keys, hasMore, readMore, isPending, error, retry } = useKeys({ workspaceId, search, isCompared });
  const open = useCallback(
    (fragment: string | null) => go(withFragment(addressWith({ ...address, fragment: '' }, {}), fragment)),
    [address],
  );
  const close = useCallback(() => open(null), [open]);
  useShortcut('c', () => {
    if (address.fragment === '' && revoking === null) open('create');
  });
  const nowMs = Date.now();
  const setDisabled = async (key: KeyObject, isDisabled: boolean): Promise<void> => {
    await send(`/keys/${key.hash}`, { method: 'PATCH', body: { disabled: isDisabled } });
    toast(isDisabled ? `${key.name} is disabled: its requests get 401.` : `${key.name} is enabled.`, () =>
      setDisabled(key, !isDisabled),
    );
    await queries.invalidateQueries({ queryKey: ['keys'] });
  };
  const disabling = useMutation({
    mutationFn: ({ key, isDisabled }: { readonly key: KeyObject; readonly isDisabled: boolean }) =>
      setDisabled(key, isDisabled),
  });
  const refused = useRefusedNow();
  const table = {
    keys,
    workspaces: workspaces.data,
    refusing: refusingKeys(keys, refused, nowMs),
    reserved: useReserved(),
    nowMs,
  };
  const columns = keyColumns(table, {
    edit: ({ hash }) => open(hash),
    setDisabled: (key, isDisabled) => disabling.mutate({ key, isDisabled }),
    revoke: setRevoking,
  });
  const rows = useMemo(() => {
    const inState =
      state === null
        ? keys
        : keys.filter((key) => (STATE_GROUPS[state] as readonly string[]).includes(stateOf(key, nowMs)));
    const by = columns.find(({ name }) => name === sort?.by)?.sortValue;
    return by === undefined ? inState : sorted(inState, by, sort?.isDescending ?? false);
  }, [keys, state, sort?.by, sort?.isDescending, workspaces.data]);
  const revoke = async ({ hash, name }: KeyObject): Promise<void> => {
    await send(`/keys/${hash}`, { method: 'DELETE' });
    toast(`${name} was revoked.`);
    await queries.invalidateQueries({ queryKey: ['keys'] });
  };
  const isNarrowed = search !== null || state !== null || workspaceId !== null;
  return (
    <>
      <TopBar title="Keys" detail={isPending ? undefined : `${count(keys.length)}${hasMore ? '+' : ''}`}>
        <SearchBox placeholder="Name or key" />
        <button class="b pri" type="button" onClick={() => open('create')}>
          <Icon name="plus" size={14} />
          Create key
          <kbd class="wide">C</kbd>
        </button>
      </TopBar>
      <search class="filters">
        <StateFilter current={state} />
        <WorkspaceChoice all="All workspaces" />
        <span class="push sm t3 wide">Limits reset at 00:00 UTC. Times are {zoneName(nowMs)}.</span>
      </search>
      <main id="main">
        {(error !== null || disabling.isError) && (
          <div class="pad">
            <FailureNote error={disabling.error ?? error} onRetry={disabling.isError ? undefined : retry} />
          </div>
        )}
        <BudgetStrip workspaces={workspaces.data ?? []} workspaceId={workspaceId} />
        {isPending && <SkeletonRows />}
        {isCompared && hasMore && keys.length >= MAX_COMPARED_KEYS && (
          <p class="cut-note">
            Among the newest {count(MAX_COMPARED_KEYS)} keys. Search, or choose a workspace, to compare all.
          </p>
        )}
        {!isPending && error === null && rows.length === 0 && (
          <NoKeys isNarrowed={isNarrowed} onCreate={() => open('create')} />
        )}
        {rows.length > 0 && (
          <DataTable
            label="Keys"
            columns={columns}
            rows={rows}
            idOf={({ hash }) => hash}
            rowHeight={46}
            sort={sort}
            onSort={(next) => go(addressWith(address, { sort: sortText(next) }))}
            onOpen={({ hash }) => open(hash)}
            isQuiet={(key) => stateOf(key, nowMs) === 'disabled'}
            onEnd={isCompared ? undefined : readMore}
          />
        )}
      </main>
      {address.fragment === 'create' && workspaces.data !== undefined && (
        <CreateKey
          workspaces={workspaces.data}
          workspaceId={workspaceId ?? defaultWorkspaceId(workspaces.data)}
          onClose={close}
        />
      )}
      {HASH.test(address.fragment) && (
        <OpenKey hash={address.fragment} workspaces={workspaces.data ?? []} onClose={close} />
      )}
      {revoking !== null && (
        <Confirm
          title={`Revoke ${revoking.name}?`}
          action="Revoke key"
          keep="Keep it"
          typed={revoking.name}
          onConfirm={() => revoke(revoking)}
          onClose={() => setRevoking(null)}
        >
          <p>
            It spent <b>{shortMoney(revoking.usage)}</b> in total, <b>{shortMoney(revoking.usage_daily)}</b>{' '}
            of it today. Requests with it get <b>401</b> within a second; open streams are finished and
            charged. Its requests stay in the log. It cannot be brought back: to stop it for a while, disable
            it.
          </p>
        </Confirm>
      )}
    </>
  );
}

/** An address without its fragment, with this one. */
function withFragment(address: string, fragment: string | null): string {
  return fragment === null ? address : `${address}#${fragment}`;
}

const STATE_TITLES: Readonly<Record<StateGroup, string>> = {
  active: 'Active',
  stopped: 'Stopped',
  disabled: 'Disabled',
};

function StateFilter({ current }: { readonly current: StateGroup | null }) {
  const address = useAddress();
  const groups = Object.keys(STATE_GROUPS) as StateGroup[];
  return (
    <div class="bgroup">
      {[null, ...groups].map((group) => (
        <button
          key={group}
          class="b"
          type="button"
          aria-pressed={group === current}
          onClick={() => go(addressWith(address, { state: group }))}
        >
          {group === null ? 'All' : STATE_TITLES[group]}
        </button>
      ))}
    </div>
  );
}

function NoKeys({ isNarrowed, onCreate }: { readonly isNarrowed: boolean; readonly onCreate: () => void }) {
  if (isNarrowed) {
    return (
      <Empty title="No key matches">
        <p>The search finds a part of the name or label, or the start of the hash.</p>
        <Link class="b" href="/keys">
          Show all keys
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title="No keys yet">
      <p>
        A key opens the gateway for one person, program or customer. It has a limit of its own, and every
        request in the log and in analytics names it.
      </p>
      <button class="b pri" type="button" onClick={onCreate}>
        Create key
      </button>
    </Empty>
  );
}
