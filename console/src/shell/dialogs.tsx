import type { CurrentKey } from '../api/contract.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Palette } from './palette.tsx';

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
