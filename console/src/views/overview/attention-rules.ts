import type {
  ConfigurationObject,
  EndpointStateObject,
  KeyObject,
  LoggedGenerationObject,
  Overview,
  ProviderStateObject,
  WorkspaceObject,
} from '../../api/contract.ts';
import { limitColumn, shortMoney } from '../../format/money.ts';
import { count, counted, percent, usedPercent } from '../../format/numbers.ts';
import { recentCalls } from '../../parts/recent-calls.ts';
import { errorText } from '../log/log-words.ts';

/** Something that needs a look, with the view that shows why. */
export interface Note {
  readonly dot: 'bad' | 'warn';
  readonly title: string;
  readonly detail: string;
  readonly text: string;
  readonly href: string;
  readonly link: string;
}

export type LimitedKey = Pick<
  KeyObject,
  'name' | 'label' | 'limit' | 'limit_remaining' | 'limit_reset' | 'disabled'
>;

/** What the rules look at. A list is empty if it is not known, or if the key that asks may not see it. */
export interface AttentionFacts {
  readonly overview: Overview;
  /** Parameters of the log for the range and the filters of the overview. */
  readonly logOf: (extra: Readonly<Record<string, string>>) => string;
  readonly isAccount: boolean;
  readonly keys: readonly LimitedKey[];
  readonly workspaces: readonly WorkspaceObject[];
  readonly providers: readonly ProviderStateObject[];
  readonly endpoints: readonly EndpointStateObject[];
  readonly configuration: ConfigurationObject | undefined;
  /** Rows of requests that were refused in the last 15 minutes. */
  readonly refused: readonly LoggedGenerationObject[];
}

/** Share of its limit from which a key or a budget needs a look. */
const NEAR_LIMIT = 0.9;

/** Share of generations without an answer that needs a look, the share that is bad, and how many there must be. */
const ERROR_SHARE = { warn: 0.05, bad: 0.2, ofAtLeast: 20 };

/** Statuses that say of a key that it, a limit or a budget refuses. With others the request is wrong. */
const REFUSING: ReadonlySet<number> = new Set([401, 402, 403, 429]);

/** Calls without an answer from which on a model is said to have none. */
const MIN_UNANSWERED = 3;

/** What needs a look, by rule. What stops requests comes first, else the order of the rules. */
const RULES: Readonly<Record<string, (facts: AttentionFacts) => readonly Note[]>> = {
  'configuration file refused': ({ configuration }) => {
    const reload = configuration?.last_reload;
    if (reload === undefined || reload === null || reload.is_accepted) return [];
    const [first] = reload.problems;
    return [
      {
        dot: 'bad',
        title: 'The configuration file was refused',
        detail: counted(reload.problems.length, 'problem'),
        text: `${first === undefined ? '' : `${[first.path, first.message].filter(Boolean).join(': ')}. `}The configuration before it stays in force.`,
        href: '/configuration',
        link: 'Configuration',
      },
    ];
  },
  'model without answers': ({ endpoints }) =>
    grouped(endpoints, ({ model }) => model).flatMap(([model, own]): Note[] => {
      const all = own.map(({ history }) => recentCalls(history));
      const calls = all.reduce((sum, each) => sum + each.calls, 0);
      const failures = all.reduce((sum, each) => sum + each.failures, 0);
      if (calls < MIN_UNANSWERED || failures < calls) return [];
      return [
        {
          dot: 'bad',
          title: `${model} gives no answers`,
          detail: `0 of ${count(calls)} calls`,
          text: 'All calls of the last minutes failed.',
          href: `/models?open=${encodeURIComponent(model)}`,
          link: 'Model',
        },
      ];
    }),
  'endpoint cooling': ({ providers }) =>
    providers
      .filter(({ endpoints_out: out }) => out > 0)
      .map(({ slug, name, endpoints, endpoints_out: out, changes: [last] }): Note => {
        const cause = last?.cause?.status ?? last?.cause?.errno ?? null;
        return {
          dot: out === endpoints ? 'bad' : 'warn',
          title: `${name} is cooling down`,
          detail: `${out} of ${endpoints} endpoints`,
          text: `${cause === null ? '' : `The last failure was ${cause}. `}Requests go to other endpoints if the model has any.`,
          href: `/providers?provider=${encodeURIComponent(slug)}`,
          link: 'Provider',
        };
      }),
  'key refused now': ({ refused }) =>
    grouped(
      refused.filter(({ error_status: status }) => REFUSING.has(status ?? 0)),
      ({ key_hash: hash, error_status: status }) => `${hash} ${status}`,
    )
      .map(([, rows]) => ({
        row: rows[0] as LoggedGenerationObject,
        requests: rows.reduce((sum, { refused_requests: each }) => sum + (each ?? 1), 0),
      }))
      .sort((one, other) => other.requests - one.requests)
      .map(({ row, requests }): Note => {
        const { key_hash: hash, key_name: name, error_status: status, error_type: type } = row;
        return {
          dot: 'bad',
          title: `${name ?? `Key ${hash?.slice(0, 8) ?? ''}`} is refused`,
          detail: `${count(requests)} × ${errorText(status, type)}`,
          text: 'In the last 15 minutes, before any provider was called.',
          href: `/log?${new URLSearchParams({
            state: 'refused',
            ...(hash !== null && { key: hash }),
            ...(status !== null && { error_status: String(status) }),
          })}`,
          link: 'Log',
        };
      }),
  'share of errors': ({ overview: { now }, logOf }) => {
    const share = now.request_count === 0 ? 0 : now.error_count / now.request_count;
    if (now.request_count < ERROR_SHARE.ofAtLeast || share < ERROR_SHARE.warn) return [];
    return [
      {
        dot: share < ERROR_SHARE.bad ? 'warn' : 'bad',
        title: `${percent(share, 0)} of the generations have no answer`,
        detail: `${count(now.error_count)} of ${count(now.request_count)}`,
        text: 'In the range above.',
        href: logOf({ state: 'failed' }),
        link: 'Failures',
      },
    ];
  },
  'limit of a key': ({ keys, isAccount }) =>
    keys
      .filter(({ disabled }) => !disabled)
      .flatMap((key) => {
        const { limit, limit_remaining: left, limit_reset: reset } = key;
        if (limit === null || left === null) return [];
        const name = `Key ${key.name === '' ? key.label : key.name}`;
        const window = reset === null ? 'its limit' : `its ${reset} limit`;
        return limitNote(
          { name, window, used: limit - left, limit, status: 402 },
          isAccount
            ? { href: `/keys?search=${encodeURIComponent(key.name)}`, link: 'Keys' }
            : { href: '/log', link: 'Log' },
        );
      }),
  budget: ({ workspaces }) =>
    workspaces.flatMap(({ id, name: workspace, budgets = [] }) =>
      budgets.flatMap(({ used_usd: used, limit_usd: limit, reset_interval: reset }) => {
        const window = reset === null ? 'its budget' : `its ${reset} budget`;
        return limitNote(
          { name: `Workspace ${workspace}`, window, used, limit, status: 403 },
          { href: `/workspaces#${id}`, link: 'Budgets' },
        );
      }),
    ),
  ledger: ({ overview: { ledger } }) =>
    ledger.state !== 'differs'
      ? []
      : [
          {
            dot: 'warn',
            title: 'Figures and ledger differ',
            detail: shortMoney(ledger.difference),
            text: 'Balances and limits go by the ledger.',
            href: '/configuration',
            link: 'Findings',
          },
        ],
};

function grouped<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): (readonly [key: string, items: readonly Item[]])[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups];
}

interface Spending {
  /** What spends. */
  readonly name: string;
  readonly window: string;
  readonly used: number;
  readonly limit: number;
  /** What requests beyond it get. */
  readonly status: number;
}

function limitNote(
  { name, window, used, limit, status }: Spending,
  shown: Pick<Note, 'href' | 'link'>,
): Note[] {
  const isUsedUp = used >= limit;
  const money = limitColumn([used, limit]);
  if (!isUsedUp && used / limit < NEAR_LIMIT) return [];
  return [
    {
      dot: isUsedUp ? 'bad' : 'warn',
      title: isUsedUp
        ? `${name} has used up ${window}`
        : `${name} is at ${usedPercent(used / limit)} of ${window}`,
      detail: `${money(used)} of ${money(limit)}`,
      text: isUsedUp ? `Requests get ${status}.` : `At the limit requests get ${status}.`,
      ...shown,
    },
  ];
}

/** Notes of all rules, those of what stops requests first. */
export function notesOf(facts: AttentionFacts): readonly Note[] {
  const notes = Object.values(RULES).flatMap((rule) => rule(facts));
  return [...notes.filter(({ dot }) => dot === 'bad'), ...notes.filter(({ dot }) => dot === 'warn')];
}
