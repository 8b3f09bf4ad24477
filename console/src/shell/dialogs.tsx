import { useMemo, useState } from 'preact/hooks';
import { go } from '../address/address.ts';
import type { CurrentKey } from '../api/contract.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { viewsFor } from './navigation.tsx';

interface Props {
  readonly open: 'palette' | 'help' | null;
  readonly onClose: () => void;
  readonly currentKey: CurrentKey;
}

/** The dialogs that every view can open. */
export function Dialogs({ open, onClose, currentKey }: Props) {
  if (open === 'palette') return <Palette currentKey={currentKey} onClose={onClose} />;
  return open === 'help' ? <Help onClose={onClose} /> : null;
}

interface Hit {
  readonly title: string;
  readonly detail: string;
  readonly address: string;
}

/** Ids of generations, which open their record. */
const GENERATION_ID = /^gen-[\w-]+$/;

/** Finds views, and opens a generation by its id. */
function Palette({ currentKey, onClose }: Omit<Props, 'open'>) {
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const hits = useMemo(() => hitsFor(text.trim(), currentKey), [text, currentKey]);
  const openHit = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    onClose();
    go(hit.address);
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setSelected((before) => (before + step + hits.length) % Math.max(1, hits.length));
    } else if (event.key === 'Enter') openHit(hits[selected]);
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
          aria-label="A view, or the id of a generation"
          placeholder="A view, or the id of a generation"
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
            role="option"
            class="hit"
            tabIndex={-1}
            aria-selected={index === selected}
            onClick={() => openHit(hit)}
            onMouseEnter={() => setSelected(index)}
          >
            <span>{hit.title}</span>
            <span class="t3">{hit.detail}</span>
          </div>
        ))}
      </div>
      {hits.length === 0 && <p class="pad t3">No view is called that. Ids of generations begin with gen-.</p>}
    </Dialog>
  );
}

function hitsFor(text: string, key: CurrentKey): readonly Hit[] {
  if (GENERATION_ID.test(text)) return [{ title: text, detail: 'Generation', address: `/log#${text}` }];
  return viewsFor(key)
    .filter(({ title }) => title.toLowerCase().includes(text.toLowerCase()))
    .map(({ title, path, shortcut }) => ({
      title,
      detail: shortcut === null ? '' : `G ${shortcut.toUpperCase()}`,
      address: path,
    }));
}

const SHORTCUTS: readonly (readonly [keys: string, does: string])[] = [
  ['⌘K, Ctrl K', 'search or jump'],
  ['G, then O L P A M K', 'Overview, Log, Playground, Analytics, Models, Keys'],
  ['/', 'search of the view'],
  ['F, R', 'add a filter, choose the range'],
  ['J K', 'next, previous row'],
  ['↵, Esc', 'open, close'],
  ['Y', 'copy the link'],
  ['L', 'live on, off'],
  ['C', 'create, where there is something to create'],
  ['⇧T', 'light, dark'],
  ['?', 'this list'],
];

function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="kv pad">
        {SHORTCUTS.map(([keys, does]) => (
          <>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  );
}
