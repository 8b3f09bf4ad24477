import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import type { MemberObject } from '../../api/contract.ts';
import { send } from '../../api/request.ts';
import { count } from '../../format/numbers.ts';
import { date } from '../../format/times.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useShortcut } from '../../parts/keyboard.ts';
import { RowMenu } from '../../parts/row-menu.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { toast } from '../../parts/toast.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { EditMember } from './edit-member.tsx';
import { memberName, ROLE_TITLES } from './member-form.ts';
import { MEMBERS_PATH, MEMBERS_QUERY, useMembers } from './use-members.ts';

/** The people of the account. `#ID` opens one, `#create` a new one. */
export function Members() {
  const address = useAddress();
  const queries = useQueryClient();
  const search = address.query.get('search');
  const { members, total, readMore, isPending, error, retry } = useMembers(search);
  const [removing, setRemoving] = useState<MemberObject | null>(null);
  const open = (fragment: string): void => {
    const plain = addressWith({ ...address, fragment: '' }, {});
    go(fragment === '' ? plain : `${plain}#${fragment}`);
  };
  useShortcut('c', () => {
    if (address.fragment === '' && removing === null) open('create');
  });
  const setDisabled = async (member: MemberObject, disabled: boolean): Promise<void> => {
    await send(`${MEMBERS_PATH}/${member.id}`, { method: 'PATCH', body: { disabled } });
    const effect = disabled ? 'is disabled: the keys and sessions get 401.' : 'is enabled.';
    toast(`${memberName(member)} ${effect}`, () => setDisabled(member, !disabled));
    await queries.invalidateQueries({ queryKey: MEMBERS_QUERY });
  };
  const disabling = useMutation({
    mutationFn: ({ member, isDisabled }: { readonly member: MemberObject; readonly isDisabled: boolean }) =>
      setDisabled(member, isDisabled),
  });
  const remove = async (member: MemberObject): Promise<void> => {
    await send(`${MEMBERS_PATH}/${member.id}`, { method: 'DELETE' });
    toast(`${memberName(member)} was removed.`);
    await queries.invalidateQueries({ queryKey: MEMBERS_QUERY });
  };
  const columns = columnsOf({
    edit: ({ id }) => open(id),
    setDisabled: (member, isDisabled) => disabling.mutate({ member, isDisabled }),
    remove: setRemoving,
  });
  const edited = members.find(({ id }) => id === address.fragment);
  return (
    <>
      <TopBar title="Members" detail={total === undefined ? undefined : count(total)}>
        <SearchBox placeholder="Name or address" />
        <button class="b pri" type="button" onClick={() => open('create')}>
          <Icon name="plus" size={14} />
          Add member
          <kbd class="wide">C</kbd>
        </button>
      </TopBar>
      <main id="main">
        {(error !== null || disabling.isError) && (
          <div class="pad">
            <FailureNote error={disabling.error ?? error} onRetry={disabling.isError ? undefined : retry} />
          </div>
        )}
        {isPending && <SkeletonRows />}
        {!isPending && error === null && members.length === 0 && (
          <NoMembers isSearch={search !== null} onAdd={() => open('create')} />
        )}
        {members.length > 0 && (
          <DataTable
            label="Members"
            columns={columns}
            rows={members}
            idOf={({ id }) => id}
            rowHeight={46}
            onOpen={({ id }) => open(id)}
            isQuiet={({ disabled }) => disabled}
            onEnd={readMore}
          />
        )}
      </main>
      {address.fragment === 'create' && <EditMember member={null} onClose={() => open('')} />}
      {edited !== undefined && <EditMember key={edited.id} member={edited} onClose={() => open('')} />}
      {removing !== null && (
        <Confirm
          title={`Remove ${memberName(removing)}?`}
          action="Remove member"
          keep="Keep them"
          typed={removing.email}
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(null)}
        >
          <p>
            Keys of this member get <b>401</b> within a second, and sessions that were opened with them end.
            The log and analytics keep the member’s id. It cannot be taken back: to stop somebody for a while,
            disable them.
          </p>
        </Confirm>
      )}
    </>
  );
}

interface Actions {
  readonly edit: (member: MemberObject) => void;
  readonly setDisabled: (member: MemberObject, isDisabled: boolean) => void;
  readonly remove: (member: MemberObject) => void;
}

function columnsOf({ edit, setDisabled, remove }: Actions): readonly Column<MemberObject>[] {
  return [
    {
      name: 'name',
      title: 'Member',
      cell: (member) => (
        <span class="r">
          <b class="cut" title={member.email}>
            {memberName(member)}
          </b>
          {memberName(member) !== member.email && <span class="dim cut wide">{member.email}</span>}
          {member.disabled && <span class="tag">disabled</span>}
          {member.managed_by === 'file' && <span class="tag line">file</span>}
        </span>
      ),
    },
    { name: 'role', title: 'Role', width: 'c-104', cell: ({ role }) => ROLE_TITLES[role] },
    {
      name: 'id',
      title: 'Id',
      width: 'c-240',
      priority: 2,
      cell: ({ id }) => (
        <code class="dim" title={id}>
          {id}
        </code>
      ),
    },
    {
      name: 'created',
      title: 'Created',
      width: 'c-104',
      priority: 3,
      cell: ({ created_at: at }) => <span class="dim">{date(Date.parse(at))}</span>,
    },
    {
      name: 'actions',
      title: 'Actions',
      isTitleHidden: true,
      width: 'c-72',
      cell: (member) => (
        <RowMenu
          of={memberName(member)}
          actions={[
            { title: 'Change', run: () => edit(member) },
            ...(member.managed_by === 'file'
              ? []
              : [
                  {
                    title: member.disabled ? 'Enable' : 'Disable',
                    run: () => setDisabled(member, !member.disabled),
                  },
                  { title: 'Remove', run: () => remove(member) },
                ]),
          ]}
        />
      ),
    },
  ];
}

function NoMembers({ isSearch, onAdd }: { readonly isSearch: boolean; readonly onAdd: () => void }) {
  if (isSearch) {
    return (
      <Empty title="No member matches">
        <p>The search finds a part of the address or the name.</p>
        <Link class="b" href="/members">
          Show all members
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title="No members yet">
      <p>
        A member is a person of the account. Keys that are made for members stop working with them, and
        guardrails of a member hold for all of their keys. Without members everything works with keys alone.
      </p>
      <button class="b pri" type="button" onClick={onAdd}>
        Add member
      </button>
    </Empty>
  );
}
