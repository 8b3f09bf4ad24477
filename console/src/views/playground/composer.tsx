import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import { EFFORTS, type Picture } from './conversation.ts';
import { ToolsDialog } from './tools-dialog.tsx';

interface Props {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly pictures: readonly Picture[];
  readonly onPictures: (change: (before: readonly Picture[]) => readonly Picture[]) => void;
  readonly toolsText: string;
  readonly toolCount: number;
  readonly onTools: (text: string) => void;
  readonly effort: string;
  readonly onEffort: (effort: string) => void;
  readonly isPair: boolean;
  /** Why nothing can be sent; null = it can. */
  readonly obstacle: string | null;
  readonly onSend: () => void;
  /** Which key pays. */
  readonly children: ComponentChildren;
}

/** Where a message is written. */
export function Composer(props: Props) {
  const { text, onText, pictures, onPictures, isPair, obstacle, onSend } = props;
  const [isEditingTools, setEditingTools] = useState(false);
  const files = useRef<HTMLInputElement>(null);
  const addPictures = async (list: FileList | null): Promise<void> => {
    const added = await Promise.all(Array.from(list ?? [], pictureOf));
    onPictures((before) => [...before, ...added]);
    if (files.current !== null) files.current.value = '';
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    onSend();
  };
  return (
    <form class="comp" onSubmit={submit}>
      {pictures.length > 0 && (
        <ul class="shots">
          {pictures.map(({ name, url }, index) => (
            <li key={url}>
              <img class="shot" src={url} alt={name} />
              <button
                class="b quiet ico"
                type="button"
                aria-label={`Remove ${name}`}
                onClick={() => onPictures((before) => before.toSpliced(index, 1))}
              >
                <Icon name="cross" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        class="in-t"
        rows={2}
        aria-label="Message"
        placeholder={isPair ? 'Ask both models…' : 'Ask the model…'}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          onSend();
        }}
      />
      <div class="r wrap">
        <input
          ref={files}
          class="vh"
          type="file"
          accept="image/png,image/jpeg,image/webp,image/gif"
          multiple
          tabIndex={-1}
          aria-label="Images"
          onChange={(event) => void addPictures(event.currentTarget.files)}
        />
        <button class="b quiet" type="button" onClick={() => files.current?.click()}>
          <Icon name="upload" size={14} />
          Image
        </button>
        <button class="b quiet" type="button" onClick={() => setEditingTools(true)}>
          <Icon name="configuration" size={14} />
          Tools {props.toolCount > 0 && <span class="dim">{props.toolCount}</span>}
        </button>
        <label class="r sm">
          Reasoning
          <select
            class="in-t"
            value={props.effort}
            onChange={(event) => props.onEffort(event.currentTarget.value)}
          >
            <option value="">Model default</option>
            {EFFORTS.map((effort) => (
              <option key={effort} value={effort}>
                {effort}
              </option>
            ))}
          </select>
        </label>
        <div class="r send">
          {props.children}
          <button class="b pri" type="submit" disabled={obstacle !== null} title={obstacle ?? undefined}>
            {isPair ? 'Send to both' : 'Send'}
            <kbd class="wide">⌘↵</kbd>
          </button>
        </div>
      </div>
      {isEditingTools && (
        <ToolsDialog
          text={props.toolsText}
          onSave={(next) => {
            props.onTools(next);
            setEditingTools(false);
          }}
          onClose={() => setEditingTools(false)}
        />
      )}
    </form>
  );
}

function pictureOf(file: File): Promise<Picture> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve({ name: file.name, url: String(reader.result) });
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
