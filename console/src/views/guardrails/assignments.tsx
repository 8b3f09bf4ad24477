import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type {
  GuardrailObject,
  KeyAssignmentObject,
  KeyObject,
  MemberAssignmentObject,
} from '../../api/contract.ts';
import { partMeta } from '../../api/part.ts';
import { ask, send } from '../../api/request.ts';
import { useWorkspaces } from '../../api/workspaces.ts';
import { counted } from '../../format/numbers.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Icon } from '../../parts/icon.tsx';
import { FailureNote } from '../../parts/states.tsx';
import { RuleSection } from './rule-section.tsx';

/** Assignments that are shown; the rest is counted. */
const SHOWN = 100;

type Kind = 'keys' | 'members';

interface Props {
  readonly id: string;
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
export function Assignments({ id, isReadOnly }: Props) {
  const queries = useQueryClient();
  const keys = useQuery({
    queryKey: ['guardrails', id, 'keys'],
    queryFn: () =>
      ask<Page<KeyAssignmentObject>>(`/guardrails/${id}/assignments/keys`, { query: { limit: SHOWN } }),
  });
  const members = useQuery({
    queryKey: ['guardrails', id, 'members'],
    queryFn: () =>
      ask<Page<MemberAssignmentObject>>(`/guardrails/${id}/assignments/members`, { query: { limit: SHOWN } }),
  });
  const ofWorkspace = useWorkspaces().data?.find(({ default_guardrail_id: of }) => of === id);
  const [replacing, setReplacing] = useState<Replacing | null>(null);
  const change = async (kind: Kind, subject: string, isRemoval: boolean): Promise<void> => {
    await send(`/guardrails/${id}/assignments/${kind}${isRemoval ? '/remove' : ''}`, {
      method: 'POST',
      body: kind === 'keys' ? { key_hashes: [subject] } : { member_user_ids: [subject] },
    });
    await queries.invalidateQueries({ queryKey: ['guardrails', id, kind] });
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
    <RuleSection
      title="Applies to"
      about="Who is under this guardrail, besides those of a workspace whose guardrail it is. Changes hold at once."
    >
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
            name={user}
            isReadOnly={isReadOnly}
            onRemove={() => remove('members', user)}
          />
        ))}
      </div>
      <p class="hint">
        {keys.data === undefined || members.data === undefined
          ? ''
          : wordsFor(keys.data.total_count, members.data.total_count, ofWorkspace?.name)}
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

interface Page<Row> {
  readonly data: Row[];
  readonly total_count: number;
}

/** `workspace`: the name of the workspace whose guardrail it is. */
function wordsFor(keys: number, members: number, workspace: string | undefined): string {
  const assigned = `${counted(keys, 'key')} and ${counted(members, 'member')}`;
  if (workspace !== undefined) {
    const more = keys + members === 0 ? '' : `, and besides for ${assigned}`;
    return `It is the guardrail of ${workspace}: its rules hold for all keys there${more}.`;
  }
  if (keys + members === 0) return 'No key and no member has it: its rules hold for nothing yet.';
  return `${assigned}.`;
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

/** Finds keys by name; a member is named by its id. */
function AddSubject({
  onAdd,
  isBusy,
}: {
  readonly onAdd: (kind: Kind, subject: string, name: string) => void;
  readonly isBusy: boolean;
}) {
  const [kind, setKind] = useState<Kind>('keys');
  const [text, setText] = useState('');
  const found = useQuery({
    queryKey: ['keys', 'for-guardrail', text],
    meta: partMeta('The list of keys'),
    queryFn: () =>
      ask<{ data: KeyObject[] }>('/keys', { query: { search: text.trim(), all_workspaces: true } }),
    enabled: kind === 'keys' && text.trim() !== '',
  });
  const keys = (kind === 'keys' && text.trim() !== '' ? (found.data?.data ?? []) : []).slice(0, 5);
  const add = (subject: string, name: string): void => {
    onAdd(kind, subject, name);
    setText('');
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (kind === 'members' && text.trim() !== '') add(text.trim(), text.trim());
        else if (keys.length === 1 && keys[0] !== undefined) add(keys[0].hash, keys[0].name);
      }}
    >
      <div class="r">
        <select
          class="in-t ws-choice"
          aria-label="Key or member"
          value={kind}
          onChange={({ currentTarget }) => setKind(currentTarget.value as Kind)}
        >
          <option value="keys">Key</option>
          <option value="members">Member</option>
        </select>
        <input
          class="in-t"
          aria-label={kind === 'keys' ? 'Name of a key' : 'Id of a member'}
          placeholder={kind === 'keys' ? 'Name of a key' : 'Id of a member'}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {kind === 'members' && (
          <button class="b" type="submit" disabled={isBusy || text.trim() === ''}>
            Add member
          </button>
        )}
      </div>
      {keys.map(({ hash, name, label }) => (
        <button class="b" type="button" key={hash} disabled={isBusy} onClick={() => add(hash, name)}>
          <Icon name="plus" size={14} />
          Add {name} <span class="t3 mono">{label}</span>
        </button>
      ))}
      {kind === 'keys' && found.data?.data.length === 0 && text.trim() !== '' && (
        <p class="hint">No key is called that.</p>
      )}
    </form>
  );
}
