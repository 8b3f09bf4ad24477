import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type {
  GuardrailObject,
  KeyAssignmentObject,
  MemberAssignmentObject,
  MemberObject,
} from '../../api/contract.ts';
import { ask, send } from '../../api/request.ts';
import { useWorkspaces, workspaceName } from '../../api/workspaces.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Picker } from '../../parts/picker.tsx';
import { FailureNote } from '../../parts/states.tsx';
import { useKeys } from '../keys/use-payer.ts';
import { memberName } from '../members/member-form.ts';
import { useMembers } from '../members/use-members.ts';
import { appliesTo } from './applies-to.ts';
import { RuleSection } from './rule-section.tsx';

/** Assignments that are shown; the rest is counted. */
const SHOWN = 100;

type Kind = 'keys' | 'members';

interface Props {
  readonly guardrail: GuardrailObject;
  readonly isReadOnly: boolean;
}

/** A key or member that would get the guardrail in place of another. */
interface Replacing {
  readonly kind: Kind;
  readonly subject: string;
  readonly name: string;
  readonly before: GuardrailObject;
}

/** The guardrail that a key or member has; null = none. */
async function guardrailOf(kind: Kind, subject: string): Promise<GuardrailObject | null> {
  const query = kind === 'keys' ? { key_hash: subject } : { user_id: subject };
  const { data } = await ask<Page<{ guardrail_id: string }>>(`/guardrails/assignments/${kind}`, { query });
  const [assignment] = data;
  if (assignment === undefined) return null;
  return (await ask<{ data: GuardrailObject }>(`/guardrails/${assignment.guardrail_id}`)).data;
}

/** Keys and members under a guardrail. A change holds at once, without a save. */
export function Assignments({ guardrail, isReadOnly }: Props) {
  const { id } = guardrail;
  const queries = useQueryClient();
  const keys = useQuery({
    queryKey: ['guardrails', id, 'keys'],
    queryFn: () =>
      ask<Page<KeyAssignmentObject>>(`/guardrails/${id}/assignments/keys`, { query: { limit: SHOWN } }),
  });
  const { members: known } = useMembers(null);
  const members = useQuery({
    queryKey: ['guardrails', id, 'members'],
    queryFn: () =>
      ask<Page<MemberAssignmentObject>>(`/guardrails/${id}/assignments/members`, { query: { limit: SHOWN } }),
  });
  const workspace = workspaceName(useWorkspaces().data, guardrail.workspace_id);
  const [replacing, setReplacing] = useState<Replacing | null>(null);
  const change = async (kind: Kind, subject: string, isRemoval: boolean): Promise<void> => {
    await send(`/guardrails/${id}/assignments/${kind}${isRemoval ? '/remove' : ''}`, {
      method: 'POST',
      body: kind === 'keys' ? { key_hashes: [subject] } : { member_user_ids: [subject] },
    });
    await queries.invalidateQueries({ queryKey: ['guardrails', id, kind] });
    await queries.invalidateQueries({ queryKey: ['guardrails', 'list'] });
  };
  const replace = async ({ kind, subject, before }: Replacing): Promise<void> => {
    await change(kind, subject, false);
    await queries.invalidateQueries({ queryKey: ['guardrails', before.id, kind] });
  };
  const changing = useMutation({
    mutationFn: async (of: { kind: Kind; subject: string; name: string; isRemoval: boolean }) => {
      const { kind, subject, name, isRemoval } = of;
      const before = isRemoval ? null : await guardrailOf(kind, subject);
      if (before === null || before.id === id) await change(kind, subject, isRemoval);
      else setReplacing({ kind, subject, name, before });
    },
  });
  const remove = (kind: Kind, subject: string) =>
    changing.mutate({ kind, subject, name: subject, isRemoval: true });
  const add = (kind: Kind, subject: string, name: string) =>
    changing.mutate({ kind, subject, name, isRemoval: false });
  const failed = [keys, members].find(({ isError }) => isError);
  return (
    <RuleSection title="Applies to" about="Keys and members under this guardrail. Changes hold at once.">
      {failed !== undefined && <FailureNote error={failed.error} onRetry={() => failed.refetch()} />}
      {changing.isError && <FailureNote error={changing.error} />}
      <div class="r wrap">
        {(keys.data?.data ?? []).map(({ key_hash: hash, key_name: name }) => (
          <Chip
            key={hash}
            kind="key"
            name={name}
            isReadOnly={isReadOnly}
            onRemove={() => remove('keys', hash)}
          />
        ))}
        {(members.data?.data ?? []).map(({ user_id: user }) => (
          <Chip
            key={user}
            kind="member"
            name={nameIn(known, user)}
            isReadOnly={isReadOnly}
            onRemove={() => remove('members', user)}
          />
        ))}
      </div>
      <p class="hint">
        {keys.data === undefined || members.data === undefined
          ? ''
          : wordsFor(
              {
                ...guardrail,
                assigned_keys: keys.data.total_count,
                assigned_members: members.data.total_count,
              },
              workspace,
            )}
      </p>
      {!isReadOnly && <AddSubject onAdd={add} isBusy={changing.isPending} />}
      {replacing !== null && (
        <Confirm
          title={`Replace the guardrail of ${replacing.name}?`}
          action="Replace guardrail"
          keep={`Keep ${replacing.before.name}`}
          onConfirm={() => replace(replacing)}
          onClose={() => setReplacing(null)}
        >
          <p>
            It has <b>{replacing.before.name}</b>. A {replacing.kind === 'keys' ? 'key' : 'member'} has one
            guardrail of its own: from the next request on, none of the rules of that one hold for it.
          </p>
        </Confirm>
      )}
    </RuleSection>
  );
}

/** The name of a member, or the id of who is none of these. */
function nameIn(members: readonly MemberObject[], id: string): string {
  const member = members.find((each) => each.id === id);
  return member === undefined ? id : memberName(member);
}

function wordsFor(guardrail: GuardrailObject, workspace: string): string {
  const words = appliesTo(guardrail, workspace);
  if (words === undefined) return 'No key and no member has it: its rules hold for nothing yet.';
  return `Its rules hold for ${words}.`;
}

interface Page<Row> {
  readonly data: Row[];
  readonly total_count: number;
}

interface ChipProps {
  readonly kind: 'key' | 'member';
  readonly name: string;
  readonly isReadOnly: boolean;
  readonly onRemove: () => void;
}

function Chip({ kind, name, isReadOnly, onRemove }: ChipProps) {
  return (
    <span class="chip">
      <span>{kind}</span>
      <span class="v">
        <span class="cut">{name}</span>
      </span>
      {!isReadOnly && (
        <button type="button" aria-label={`Remove ${kind} ${name}`} onClick={onRemove}>
          <Icon name="cross" size={12} />
        </button>
      )}
    </span>
  );
}

interface AddProps {
  readonly onAdd: (kind: Kind, subject: string, name: string) => void;
  readonly isBusy: boolean;
}

/** Chooses a key from those of all workspaces, or a member. Whom the account does not have is named by an id. */
function AddSubject({ onAdd, isBusy }: AddProps) {
  const [search, setSearch] = useState('');
  const [member, setMember] = useState('');
  const [memberSearch, setMemberSearch] = useState('');
  const keys = useKeys(search, true).data?.data ?? [];
  const { members, total = 0 } = useMembers(memberSearch === '' ? null : memberSearch);
  const hasMembers = total > 0 || memberSearch !== '';
  return (
    <form
      class="r wrap"
      onSubmit={(event) => {
        event.preventDefault();
        if (member.trim() === '') return;
        onAdd('members', member.trim(), member.trim());
        setMember('');
      }}
    >
      <Picker
        label="Key"
        shown="Add a key"
        value=""
        options={keys.map(({ hash, name, label }) => ({ value: hash, label: name, detail: label }))}
        onPick={(hash) => onAdd('keys', hash, keys.find((key) => key.hash === hash)?.name ?? hash)}
        onSearch={(text) => setSearch(text.trim())}
      />
      {hasMembers && (
        <Picker
          label="Member"
          shown="Add a member"
          value=""
          options={members.map((each) => ({ value: each.id, label: memberName(each), detail: each.email }))}
          onPick={(id) => onAdd('members', id, nameIn(members, id))}
          onSearch={(text) => setMemberSearch(text.trim())}
        />
      )}
      <input
        class="in-t ws-choice"
        aria-label="Id of a member"
        placeholder={hasMembers ? 'Another creator’s id' : 'Id of a member'}
        value={member}
        onInput={(event) => setMember(event.currentTarget.value)}
      />
      <button class="b" type="submit" disabled={isBusy || member.trim() === ''}>
        Add member
      </button>
    </form>
  );
}
