import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import type { ProviderStateObject } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import { count } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';
import { HealthStrip, SINCE_START } from '../../parts/health-strip.tsx';
import { Icon } from '../../parts/icon.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { Answered } from '../../parts/uptime.tsx';
import type { ServedProvider } from './provider-form.ts';
import { ProviderPanel } from './provider-panel.tsx';
import { credentialText, stateOfProvider } from './provider-words.ts';
import { ServeProvider } from './serve-provider.tsx';

/** How often the state is asked for, milliseconds. */
const EVERY_MS = 10_000;

/** Providers: whether they serve, how calls went, which keys are set. A row opens beside the table. */
export function Providers() {
  const address = useAddress();
  const search = (address.query.get('search') ?? '').toLowerCase();
  const selected = address.query.get('provider');
  const providers = useQuery({
    queryKey: ['gateway', 'providers'],
    queryFn: () => ask<{ data: ProviderStateObject[] }>('/gateway/providers'),
    refetchInterval: EVERY_MS,
  });
  const found = (providers.data?.data ?? []).filter(({ slug, name }) =>
    `${slug} ${name}`.toLowerCase().includes(search),
  );
  const [serving, setServing] = useState<ServedProvider | null>(null);
  const inUse = found.filter(
    ({ is_on: isOn, endpoints, stored }) => isOn || endpoints > 0 || stored !== null,
  );
  const known = found.filter((provider) => !inUse.includes(provider));
  const withoutKey = inUse.filter(({ is_on: isOn }) => !isOn).length;
  const open = (slug: string | null) => go(addressWith(address, { provider: slug }), { replace: true });
  const panel = inUse.find(({ slug }) => slug === selected);
  return (
    <>
      <TopBar
        title="Providers"
        detail={
          providers.data &&
          `${count(inUse.length)} in use${withoutKey === 0 ? '' : `, ${count(withoutKey)} without a key`}`
        }
      >
        <SearchBox placeholder="Name of a provider" />
        <button class="b pri" type="button" onClick={() => setServing(OWN_SERVER)}>
          <Icon name="plus" size={14} />
          Add a server
        </button>
      </TopBar>
      <main id="main">
        {providers.isError && (
          <div class="pad">
            <FailureNote error={providers.error} onRetry={() => providers.refetch()} />
          </div>
        )}
        {providers.isPending && <SkeletonRows />}
        {providers.data !== undefined && (
          <div class={panel === undefined ? undefined : 'pv'}>
            <div class="list keyl">
              {inUse.length > 0 && <ProviderTable providers={inUse} selected={selected} onOpen={open} />}
              {found.length === 0 && (
                <Empty title="No provider is called that">
                  <p>The search looks at names and slugs of providers in use and of those that are known.</p>
                </Empty>
              )}
              <Legend />
              {known.length > 0 && <KnownProviders providers={known} onServe={setServing} />}
            </div>
            {panel !== undefined && <ProviderPanel provider={panel} onClose={() => open(null)} />}
          </div>
        )}
      </main>
      {serving !== null && <ServeProvider provider={serving} onClose={() => setServing(null)} />}
    </>
  );
}

const OWN_SERVER: ServedProvider = { slug: null, name: '', stored: null };

interface TableProps {
  readonly providers: readonly ProviderStateObject[];
  readonly selected: string | null;
  readonly onOpen: (slug: string) => void;
}

function ProviderTable({ providers, selected, onOpen }: TableProps) {
  return (
    <table class="prvt" aria-label="Providers in use">
      <colgroup>
        <col class="c-180" />
        <col class="c-150 o0" />
        <col />
        <col class="c-76 o2" />
        <col class="c-76 o3" />
        <col class="c-76 o3" />
        <col class="c-84 o2" />
        <col class="c-76 o2" />
        <col class="c-78 o3" />
        <col class="c-200 o3" />
      </colgroup>
      <thead>
        <tr>
          <th>Provider</th>
          <th class="o0">State</th>
          <th>
            <span class="r between">
              <span title={SINCE_START}>24 hours, by 15 min</span>
              <span>now</span>
            </span>
          </th>
          <th class="num o2" title="answered, of the calls of 24 hours">
            24 hours
          </th>
          <th class="num o3" title="answered, of the calls of 7 days">
            7 days
          </th>
          <th class="num o3" title="answered, of the calls of 30 days">
            30 days
          </th>
          <th class="num o2">First token</th>
          <th class="num o2 er" title="in 24 hours">
            Calls
          </th>
          <th class="num o3">Models</th>
          <th class="o3">Key</th>
        </tr>
      </thead>
      <tbody>
        {providers.map((provider) => (
          <ProviderRow
            key={provider.slug}
            provider={provider}
            isSelected={provider.slug === selected}
            onOpen={onOpen}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly provider: ProviderStateObject;
  readonly isSelected: boolean;
  readonly onOpen: (slug: string) => void;
}

function ProviderRow({ provider, isSelected, onOpen }: RowProps) {
  const { slug, name, history, uptime, latency_p50: latency } = provider;
  const { dot, text } = stateOfProvider(provider);
  const { names, text: source } = credentialText(provider.credential);
  return (
    <tr
      class={`opens ${provider.is_on ? '' : 'off-row'} ${isSelected ? 'sel' : ''}`}
      onClick={() => onOpen(slug)}
    >
      <td>
        <button class="row-open r" type="button" aria-expanded={isSelected}>
          <span class={`dot ${dot}`} />
          <b class="cut">{name}</b>
        </button>
      </td>
      <td class={`nw o0 ${dot === 'ok' || dot === 'off' ? 'dim' : dot}`}>{text}</td>
      <td class="upc">
        <HealthStrip history={history} />
      </td>
      <td class="num o2">
        <Answered window={uptime?.last_1d} />
      </td>
      <td class="num o3">
        <Answered window={uptime?.last_7d} />
      </td>
      <td class="num o3">
        <Answered window={uptime?.last_30d} />
      </td>
      <td class="num o2">{latency === null ? '–' : duration(latency)}</td>
      <td class="num o2 er">{uptime === null ? '–' : count(uptime.last_1d.calls)}</td>
      <td class="num o3">{count(provider.models)}</td>
      <td class="o3 cut">
        {names !== '' && <code>{names}</code>} <span class="dim">{source}</span>
      </td>
    </tr>
  );
}

function Legend() {
  return (
    <p class="pad sm t3">
      <span class="legend">
        <span>
          <span class="sq o" />
          answered
        </span>
        <span>
          <span class="sq p" />
          some failed
        </span>
        <span>
          <span class="sq q" />
          half or more failed
        </span>
        <span>
          <span class="sq z" />
          no traffic, or before the start of this process
        </span>
      </span>
    </p>
  );
}

interface KnownProps {
  readonly providers: readonly ProviderStateObject[];
  readonly onServe: (provider: ServedProvider) => void;
}

function KnownProviders({ providers, onServe }: KnownProps) {
  return (
    <section class="known">
      <div class="hd">
        <h2>Known, without a key</h2>
        <span class="sm t3">A key added here serves at once; its variable does the same at a start.</span>
      </div>
      <ul>
        {providers.map(({ slug, name, credential, stored }) => (
          <li key={slug}>
            <span class="cut">{name}</span>
            <code class="cut push">{credential.variables.map((variable) => variable.name).join(' ')}</code>
            <button
              class="b quiet"
              type="button"
              aria-label={`Add key of ${name}`}
              onClick={() => onServe({ slug, name, stored })}
            >
              Add key
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
