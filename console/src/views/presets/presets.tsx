import { useQuery } from '@tanstack/preact-query';
import { addressWith, go, useAddress } from '../../address/address.ts';
import type { PresetObject } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import { count } from '../../format/numbers.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { TopBar } from '../../parts/top-bar.tsx';

/** Presets of the configuration file, and what each sets. */
export function Presets() {
  const address = useAddress();
  const search = (address.query.get('search') ?? '').toLowerCase();
  const opened = address.query.get('open');
  const presets = useQuery({
    queryKey: ['gateway', 'presets'],
    queryFn: () => ask<{ data: PresetObject[] }>('/gateway/presets'),
  });
  const all = presets.data?.data ?? [];
  const found = all.filter(({ slug }) => slug.toLowerCase().includes(search));
  const toggle = (slug: string) =>
    go(addressWith(address, { open: opened === slug ? null : slug }), { replace: true });
  return (
    <>
      <TopBar title="Presets" detail={presets.data && count(all.length)}>
        <SearchBox placeholder="Name of a preset" />
      </TopBar>
      <main id="main">
        {presets.isError && (
          <div class="pad">
            <FailureNote error={presets.error} onRetry={() => presets.refetch()} />
          </div>
        )}
        {presets.isPending && <SkeletonRows />}
        {presets.data !== undefined && all.length === 0 && <NoPresets />}
        {all.length > 0 && found.length === 0 && (
          <Empty title="No preset is called that">
            <p>There are {count(all.length)} under other names.</p>
          </Empty>
        )}
        {found.length > 0 && (
          <div class="list keyl">
            <table class="prst" aria-label="Presets">
              <thead>
                <tr>
                  <th>Preset</th>
                  <th>Model</th>
                  <th class="o2">Sets</th>
                </tr>
              </thead>
              <tbody>
                {found.map((preset) => (
                  <PresetRow
                    key={preset.slug}
                    preset={preset}
                    isOpen={opened === preset.slug}
                    onToggle={() => toggle(preset.slug)}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </main>
    </>
  );
}

interface RowProps {
  readonly preset: PresetObject;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function PresetRow({ preset: { slug, fields }, isOpen, onToggle }: RowProps) {
  const { model, models, ...others } = fields;
  const shownModel = typeof model === 'string' ? model : Array.isArray(models) ? models.join(', ') : '–';
  return (
    <>
      <tr class={isOpen ? 'mrow open' : 'mrow'}>
        <td>
          <span class="r tight">
            <button
              class="tw-b"
              type="button"
              aria-expanded={isOpen}
              aria-label={`Content of ${slug}`}
              onClick={onToggle}
            >
              <Icon name={isOpen ? 'down' : 'right'} size={14} />
            </button>
            <b>{slug}</b>
          </span>
        </td>
        <td class="cut">{shownModel}</td>
        <td class="cut o2 dim">{Object.keys(others).join(', ') || '–'}</td>
      </tr>
      {isOpen && (
        <tr class="exp">
          <td colSpan={3}>
            <p class="sm t2">
              A request names it with <code>{`"model": "@preset/${slug}"`}</code>
              <CopyButton text={`@preset/${slug}`} what="the name" />, or with a model of its own before it.
              Fields of the request win over those of the preset.{' '}
              <CopyButton text={JSON.stringify(fields, null, 2)} what="the fields" />
            </p>
            <div class="code wrap">
              <pre>{JSON.stringify(fields, null, 2)}</pre>
            </div>
          </td>
        </tr>
      )}
    </>
  );
}

function NoPresets() {
  return (
    <Empty title="There are no presets">
      <p>
        A preset holds fields of requests, such as a model, a system prompt or preferences of routing, under a
        name that requests use. Write one into the configuration file:
      </p>
      <div class="code wrap">
        <pre>{'presets:\n  careful:\n    model: simulator/standard\n    temperature: 0'}</pre>
      </div>
    </Empty>
  );
}
