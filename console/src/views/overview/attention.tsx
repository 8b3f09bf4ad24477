import { useQuery } from '@tanstack/preact-query';
import { Link } from '../../address/link.tsx';
import type {
  ConfigurationObject,
  EndpointStateObject,
  KeyObject,
  Overview,
  ProviderStateObject,
  WorkspaceObject,
} from '../../api/contract.ts';
import { useCurrentKey } from '../../api/current-key.ts';
import { partMeta } from '../../api/part.ts';
import { askedAgain } from '../../api/queries.ts';
import { useRefusedNow } from '../../api/refused.ts';
import { ask } from '../../api/request.ts';
import { type LimitedKey, notesOf } from './attention-rules.ts';

/** How often its questions are asked again, milliseconds. */
const EVERY_MS = 60_000;

const SHOWN = 6;

interface Props {
  readonly overview: Overview;
  /** The log with further filters. */
  readonly logOf: (extra: Readonly<Record<string, string>>) => string;
}

/** What stops requests, or may do so soon. */
export function Attention({ overview, logOf }: Props) {
  const current = useCurrentKey();
  const isAccount = current.is_management_key;
  const keys = usePart<KeyObject[]>('/keys', 'What is left of the limits of keys', isAccount);
  const workspaces = usePart<WorkspaceObject[]>(
    '/workspaces?include_budgets=true&limit=100',
    'What is left of budgets',
    isAccount,
  );
  const refused = useRefusedNow();
  const providers = usePart<ProviderStateObject[]>('/gateway/providers', 'The state of providers', isAccount);
  const endpoints = usePart<EndpointStateObject[]>('/gateway/endpoints', 'The state of endpoints', isAccount);
  const configuration = usePart<ConfigurationObject>(
    '/gateway/configuration?section=runtime',
    'The configuration',
    isAccount,
  );
  const own: readonly LimitedKey[] = isAccount
    ? (keys ?? [])
    : [{ ...current, name: current.label, disabled: false }];
  const notes = notesOf({
    overview,
    logOf,
    isAccount,
    keys: own,
    workspaces: workspaces ?? [],
    providers: providers ?? [],
    endpoints: endpoints ?? [],
    configuration,
    refused,
  });
  return (
    <>
      <div class="hd">
        <h2>Needs attention</h2>
        <span class="t3 push">{notes.length}</span>
      </div>
      {notes.length === 0 && (
        <p class="t3 sm">
          Nothing. Keys whose requests are refused, limits and budgets from 90 % on, many errors, models
          without answers, endpoints that cool down and a refused configuration file appear here.
        </p>
      )}
      <ul class="att">
        {notes.slice(0, SHOWN).map(({ dot, title, detail, text, href, link }) => (
          <li key={`${title} ${detail}`}>
            <span class={`dot ${dot}`} />
            <b>{title}</b>
            <span class="t3">{detail}</span>
            <p>
              {text} <Link href={href}>{link}</Link>
            </p>
          </li>
        ))}
      </ul>
      {notes.length > SHOWN && <p class="t3 sm">And {notes.length - SHOWN} more.</p>}
    </>
  );
}

/** Only management keys of the first account may see the state of the gateway: others get 403, and no such notes. */
function usePart<Data>(path: string, what: string, isAsked: boolean): Data | undefined {
  const part = useQuery({
    queryKey: ['attention', path],
    meta: partMeta(what),
    queryFn: () => ask<{ data: Data }>(path),
    enabled: isAsked,
    refetchInterval: ({ state }) => askedAgain(state.error, EVERY_MS),
  });
  return part.data?.data;
}
