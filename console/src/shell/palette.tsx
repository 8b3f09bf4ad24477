import { useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { go } from '../address/address.ts';
import type { CurrentKey, KeyObject } from '../api/contract.ts';
import { partMeta } from '../api/part.ts';
import { ask } from '../api/request.ts';
import { Dialog } from '../parts/dialog.tsx';
import { modelChoices, workspaceChoices } from '../parts/filters/dictionaries.ts';
import { Icon } from '../parts/icon.tsx';
import { viewsFor } from './navigation.tsx';
import { hitsFor, type PaletteHit, type PaletteThings } from './palette-hits.ts';

interface Props {
  readonly currentKey: CurrentKey;
  readonly onClose: () => void;
}

/** How long after the last key the gateway is asked for keys, milliseconds. */
const PAUSE_MS = 150;
const MAX_KEYS = 5;

const NO_CHOICES = Promise.resolve([]);

/** Finds views, keys, models and workspaces, and opens a generation by its id. */
export function Palette({ currentKey, onClose }: Props) {
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const things = useThings(text.trim(), currentKey.is_management_key);
  const hits = hitsFor(text.trim(), { views: viewsFor(currentKey), ...things });
  const openHit = (hit: PaletteHit | undefined, isInLog: boolean): void => {
    const address = isInLog ? hit?.logAddress : hit?.address;
    if (address === undefined) return;
    onClose();
    go(address);
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setSelected((before) => (before + step + hits.length) % Math.max(1, hits.length));
    } else if (event.key === 'Enter') openHit(hits[selected], event.metaKey || event.ctrlKey);
  };
  return (
    <Dialog title="Search or jump" onClose={onClose} class="pal">
      <div class="q">
        <Icon name="search" />
        <input
          class="grow"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-hits"
          aria-activedescendant={hits.length === 0 ? undefined : `palette-hit-${selected}`}
          aria-label="A view, key, model, workspace, or the id of a generation"
          placeholder="A view, key, model, workspace, or the id of a generation"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setSelected(0);
          }}
          onKeyDown={onKey}
        />
      </div>
      <div id="palette-hits" role="listbox" aria-label="Found" tabIndex={-1}>
        {hits.map((hit, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          <div
            key={hit.address}
            id={`palette-hit-${index}`}
            role="option"
            class="hit"
            tabIndex={-1}
            aria-selected={index === selected}
            onClick={() => openHit(hit, false)}
            onMouseEnter={() => setSelected(index)}
          >
            <span class="cut">{hit.title}</span>
            <span class="t3 nw">{hit.detail}</span>
          </div>
        ))}
      </div>
      {hits.length === 0 && <p class="pad t3">Nothing is called that. Ids of generations begin with gen-.</p>}
      {hits[selected]?.logAddress !== undefined && (
        <p class="pad t3 sm">
          <kbd>⌘↵</kbd> or <kbd>Ctrl ↵</kbd> shows its generations in the log.
        </p>
      )}
    </Dialog>
  );
}

/** What is named like the text. Keys are searched on the gateway: an account may have very many. */
function useThings(text: string, isManagement: boolean): PaletteThings {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(setSettled, PAUSE_MS, text);
    return () => clearTimeout(timer);
  }, [text]);
  const models = useQuery({
    queryKey: ['filter-choices', 'model'],
    meta: partMeta('The list of models'),
    queryFn: modelChoices,
    staleTime: 60_000,
  });
  const workspaces = useQuery({
    queryKey: ['filter-choices', 'workspace'],
    meta: partMeta('The list of workspaces'),
    queryFn: () => (isManagement ? workspaceChoices() : NO_CHOICES),
    staleTime: 60_000,
  });
  const keys = useQuery({
    queryKey: ['palette-keys', settled],
    meta: partMeta('The list of keys'),
    enabled: isManagement && settled !== '',
    queryFn: async ({ signal }) => {
      const query = { search: settled, include_disabled: true, all_workspaces: true };
      return (await ask<{ data: readonly KeyObject[] }>('/keys', { query, signal })).data.slice(0, MAX_KEYS);
    },
  });
  return {
    models: models.data ?? [],
    workspaces: workspaces.data ?? [],
    keys: text === settled && text !== '' ? (keys.data ?? []) : [],
  };
}
