import type {
  EndpointStateObject,
  ProviderStateObject,
} from '../../../../src/contract/gateway/provider-state.ts';
import { answeredTone, recentCalls } from '../../parts/recent-calls.ts';
import { answeredText } from '../../parts/uptime.tsx';

/** How a state is shown: a dot of its own form, and words. */
export interface ShownState {
  readonly dot: 'ok' | 'warn' | 'bad' | 'off';
  readonly text: string;
}

/** The state of a provider, by the worst of its endpoints. */
export function stateOfProvider(provider: ProviderStateObject): ShownState {
  const { is_on: isOn, endpoints, endpoints_out: out, endpoints_unstable: unstable } = provider;
  const { endpoints_limited: limited } = provider;
  if (!isOn) return { dot: 'off', text: provider.stored?.disabled === true ? 'Switched off' : 'No key' };
  if (out > 0) return { dot: 'bad', text: `${out} of ${endpoints} endpoints out` };
  if (limited > 0) return { dot: 'warn', text: `${limited} of ${endpoints} for some out` };
  if (unstable > 0) return { dot: 'warn', text: 'Unstable' };
  return serving(provider);
}

/** Green means answered: what serves is judged by its newest calls. */
function serving({ history }: Pick<EndpointStateObject, 'history'>): ShownState {
  const recent = recentCalls(history);
  const dot = answeredTone(recent);
  if (dot === 'ok') return { dot, text: 'Serving' };
  return { dot, text: `${answeredText(recent.calls, recent.failures)} answered` };
}

const STATES: Readonly<Record<Exclude<EndpointStateObject['state'], 'ok'>, ShownState>> = {
  unstable: { dot: 'warn', text: 'Unstable' },
  paused: { dot: 'bad', text: 'Rate limit' },
  probing: { dot: 'warn', text: 'Tried with one request' },
  cooling: { dot: 'bad', text: 'Cooling down' },
};

/** The state of an endpoint. A cool-down for some accounts is no outage for the others. */
export function stateOfEndpoint(endpoint: EndpointStateObject): ShownState {
  const { state, cooldown } = endpoint;
  if (cooldown !== null && cooldown.accounts > 0) {
    const whom = cooldown.accounts === 1 ? 'one account' : `${cooldown.accounts} accounts`;
    return { dot: 'warn', text: `Cooling down for ${whom}` };
  }
  return state === 'ok' ? serving(endpoint) : STATES[state];
}

/** When a cool-down or a pause ends; null = there is none. */
export function endOf({ cooldown, paused_until: paused }: EndpointStateObject): number | null {
  const end = cooldown?.until ?? paused;
  return end === null || end === undefined ? null : Date.parse(end);
}

type Cause = NonNullable<NonNullable<EndpointStateObject['cooldown']>['cause']>;

/** What the upstream did, in a few words. */
export function causeText(cause: Cause | null): string {
  if (cause === null) return 'the answer broke off';
  const { status, code, errno, kind } = cause;
  return [status ?? errno ?? kind, code].filter((part) => part !== null).join(' ');
}

const SOURCES: Readonly<Record<ProviderStateObject['credential']['source'], string>> = {
  environment: 'from the environment',
  file: 'in the configuration file',
  stored: 'added here',
  none_needed: 'none needed',
  missing: 'is not set',
};

/** Where the key of a provider is: names of variables, never a value. */
export function credentialText({ source, variables }: ProviderStateObject['credential']): {
  readonly names: string;
  readonly text: string;
} {
  const isNamed = source === 'environment' || source === 'missing';
  return { names: isNamed ? variables.map(({ name }) => name).join(' and ') : '', text: SOURCES[source] };
}
