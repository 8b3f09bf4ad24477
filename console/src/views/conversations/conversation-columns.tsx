import type { ConversationObject } from '../../api/contract.ts';
import { moneyColumn } from '../../format/money.ts';
import { count, counted } from '../../format/numbers.ts';
import { dateTime, duration, relative } from '../../format/times.ts';
import { MoneyText } from '../../parts/money-text.tsx';
import type { Column } from '../../parts/table/data-table.tsx';
import { modelParts } from '../log/log-words.ts';

/** The columns; the names of those that sort are orders of the interface. */
export function conversationColumns(
  conversations: readonly ConversationObject[],
  nowMs: number,
): readonly Column<ConversationObject>[] {
  const money = moneyColumn(conversations.map(({ cost }) => cost));
  return [
    {
      name: 'session',
      title: 'Session',
      cell: (conversation) => <Session conversation={conversation} nowMs={nowMs} />,
    },
    {
      name: 'models',
      title: 'Models',
      width: 'c-190',
      priority: 3,
      cell: ({ models }) => <Models models={models} />,
    },
    {
      name: 'generations',
      title: 'Turns',
      width: 'c-72',
      priority: 2,
      isNumber: true,
      sortValue: ({ generations }) => generations,
      cell: ({ generations }) => count(generations),
    },
    {
      name: 'failed',
      title: 'Errors',
      width: 'c-104',
      priority: 2,
      isNumber: true,
      sortValue: ({ failed }) => failed,
      cell: (conversation) => <Errors {...conversation} />,
    },
    {
      name: 'tokens',
      title: 'Tokens in → out',
      width: 'c-140',
      priority: 3,
      isNumber: true,
      sortValue: ({ tokens_prompt: prompt, tokens_completion: completion }) => prompt + completion,
      cell: ({ tokens_prompt: prompt, tokens_completion: completion }) => (
        <>
          {count(prompt)} <span class="dim">→</span> {count(completion)}
        </>
      ),
    },
    {
      name: 'duration_ms',
      title: 'Length',
      width: 'c-92',
      priority: 2,
      isNumber: true,
      sortValue: ({ duration_ms: ms }) => ms,
      cell: ({ duration_ms: ms, first_at: first }) => (
        <span title={`Since ${dateTime(Date.parse(first))}`}>{duration(ms)}</span>
      ),
    },
    {
      name: 'last_at',
      title: 'Last request',
      width: 'c-120',
      priority: 2,
      isNumber: true,
      sortValue: ({ last_at: last }) => Date.parse(last),
      cell: ({ last_at: last }) => (
        <span title={dateTime(Date.parse(last))}>{relative(Date.parse(last), nowMs)}</span>
      ),
    },
    {
      name: 'cost',
      title: 'Cost',
      width: 'c-104',
      isNumber: true,
      sortValue: ({ cost }) => cost,
      cell: ({ cost }) => <MoneyText money={money(cost)} />,
    },
  ];
}

interface SessionProps {
  readonly conversation: ConversationObject;
  readonly nowMs: number;
}

/** The session id, and below it whose it is; on phones, what the columns say that are left out there. */
function Session({ conversation, nowMs }: SessionProps) {
  const { session_id: id, key_name: key, key_hash: hash, workspace_name: workspace, app } = conversation;
  const { external_user: user, generations, duration_ms: ms, last_at: last } = conversation;
  const whose = [key ?? hash?.slice(0, HASH_DIGITS), workspace, app, user].filter(isText).join(' · ');
  return (
    <span class="conv">
      <code class="cut" title={id}>
        {id}
      </code>
      <span class="cut dim wide" title={`${whose}: of the last request`}>
        {whose}
      </span>
      <span class="cut dim narrow">
        <Errors {...conversation} isNoted /> {counted(generations, 'turn')} · {duration(ms)} ·{' '}
        {relative(Date.parse(last), nowMs)}
      </span>
    </span>
  );
}

/** Digits of the hash of a key that has no name any more. */
const HASH_DIGITS = 8;

const isText = (text: string | null | undefined): text is string =>
  text !== null && text !== undefined && text !== '';

/** The model that was used most, and how many others were. */
function Models({ models }: Pick<ConversationObject, 'models'>) {
  const [first, ...others] = models;
  if (first === undefined) return <span class="dim">–</span>;
  return (
    <span title={models.join('\n')}>
      {modelParts(first).name}
      {others.length > 0 && <span class="dim"> +{others.length}</span>}
    </span>
  );
}

interface ErrorsProps extends Pick<ConversationObject, 'failed' | 'refused'> {
  /** In a text: with words, and nothing if there are none. */
  readonly isNoted?: boolean;
}

/** Generations without an answer, and refused requests. */
function Errors({ failed, refused, isNoted = false }: ErrorsProps) {
  if (failed === 0 && refused === 0) return isNoted ? null : <span class="dim">0</span>;
  return (
    <>
      {failed > 0 && (
        <span class="bad">
          {count(failed)}
          {isNoted && ' failed'}
        </span>
      )}
      {failed > 0 && refused > 0 && ', '}
      {refused > 0 && <span class="warn">{count(refused)} refused</span>}
      {isNoted && ' · '}
    </>
  );
}
