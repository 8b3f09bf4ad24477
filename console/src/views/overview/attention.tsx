import { useQuery } from '@tanstack/preact-query';
import { Link } from '../../address/link.tsx';
import type { KeyObject, Overview, ProviderStateObject } from '../../api/contract.ts';
import { useCurrentKey } from '../../api/current-key.ts';
import { partMeta } from '../../api/part.ts';
import { ask } from '../../api/request.ts';
import { sumMoney } from '../../format/money.ts';
import { percent } from '../../format/numbers.ts';

/** From this share of its limit on a key needs a look. */
const NEAR_LIMIT = 0.9;

/** How often keys are read again, milliseconds. */
const EVERY_MS = 60_000;

const SHOWN = 4;

interface Note {
  readonly dot: 'bad' | 'warn' | 'off';
  readonly title: string;
  readonly detail: string;
  readonly text: string;
  readonly href: string;
  readonly link: string;
}

type Limited = Pick<KeyObject, 'name' | 'label' | 'limit' | 'limit_remaining' | 'limit_reset' | 'disabled'>;

/** What may stop requests soon, or does already. */
export function Attention({ overview }: { readonly overview: Overview }) {
  const current = useCurrentKey();
  const isAccount = current.is_management_key;
  const keys = useQuery({
    queryKey: ['attention', 'keys'],
    meta: partMeta('What is left of the limits of keys'),
    queryFn: () => ask<{ data: KeyObject[] }>('/keys'),
    enabled: isAccount,
    refetchInterval: EVERY_MS,
  });
  // Only management keys of the first account may see it: others get 403, and no such notes.
  const providers = useQuery({
    queryKey: ['attention', 'providers'],
    meta: partMeta('The state of providers'),
    queryFn: () => ask<{ data: ProviderStateObject[] }>('/gateway/providers'),
    enabled: isAccount,
    refetchInterval: (query) => (query.state.error === null ? EVERY_MS : false),
  });
  const own: readonly Limited[] = isAccount
    ? (keys.data?.data ?? [])
    : [{ ...current, name: current.label, disabled: false }];
  const notes = [
    ...ledgerNotes(overview),
    ...(providers.data?.data ?? []).flatMap(providerNotes),
    ...own.flatMap((key) => limitNotes(key, isAccount)),
  ];
  return (
    <>
      <div class="hd">
        <h2>Needs attention</h2>
        <span class="t3 push">{notes.length}</span>
      </div>
      {notes.length === 0 && (
        <p class="t3 sm">
          Nothing. Endpoints that cool down, keys within reach of their limit and figures that disagree appear
          here.
        </p>
      )}
      <ul class="att">
        {notes.slice(0, SHOWN).map(({ dot, title, detail, text, href, link }) => (
          <li key={title}>
            <span class={`dot ${dot}`} />
            <b>{title}</b>
            <span class="t3">{detail}</span>
            <p>
              {text} <Link href={href}>{link}</Link>
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}

function providerNotes({ slug, name, endpoints, endpoints_out: out, changes }: ProviderStateObject): Note[] {
  if (out === 0) return [];
  const [last] = changes;
  const cause = last?.cause?.status ?? last?.cause?.errno ?? null;
  return [
    {
      dot: out === endpoints ? 'bad' : 'warn',
      title: `${name} is cooling down`,
      detail: `${out} of ${endpoints} endpoints`,
      text: `${cause === null ? '' : `The last failure was ${cause}. `}Requests go to other endpoints if the model has any.`,
      href: `/providers#${slug}`,
      link: 'Provider',
    },
  ];
}

function ledgerNotes({ ledger }: Overview): Note[] {
  if (ledger.state !== 'differs') return [];
  return [
    {
      dot: 'warn',
      title: 'Figures and ledger differ',
      detail: sumMoney(ledger.difference),
      text: 'Balances and limits go by the ledger.',
      href: '/configuration',
      link: 'Findings',
    },
  ];
}

function limitNotes(key: Limited, isAccount: boolean): Note[] {
  const { limit, limit_remaining: left, disabled } = key;
  if (limit === null || left === null || disabled || limit === 0) return [];
  const share = (limit - left) / limit;
  if (share < NEAR_LIMIT) return [];
  const name = key.name === '' ? key.label : key.name;
  const window = key.limit_reset === null ? 'its limit' : `its ${key.limit_reset} limit`;
  return [
    {
      dot: left <= 0 ? 'bad' : 'warn',
      title:
        left <= 0
          ? `Key ${name} has used up ${window}`
          : `Key ${name} is at ${percent(share, 0)} of ${window}`,
      detail: `${sumMoney(limit - left)} of ${sumMoney(limit)}`,
      text: left <= 0 ? 'Its requests get 402.' : 'At the limit its requests get 402.',
      href: isAccount ? '/keys' : '/log',
      link: isAccount ? 'Keys' : 'Log',
    },
  ];
}
