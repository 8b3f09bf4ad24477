import { useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { Popover } from './popover.tsx';

export interface PickerOption {
  readonly value: string;
  readonly label: string;
  /** Beside the label, quieter. */
  readonly detail?: string;
}

interface Props {
  /** Of the button, for a label that stands elsewhere. */
  readonly id?: string;
  /** What is chosen: "Model of A". */
  readonly label: string;
  /** What the button shows: the chosen one. */
  readonly shown: string;
  readonly value: string;
  readonly options: readonly PickerOption[];
  readonly onPick: (value: string) => void;
  /** Takes over the search, for lists that the gateway searches. Without it the options are searched here. */
  readonly onSearch?: (text: string) => void;
}

/** Options that are drawn at most; a search finds the others. */
const MAX_SHOWN = 60;

/** A button that opens a list with a search. Arrows move, Enter chooses, Escape closes. */
export function Picker(props: Props) {
  const { id, label, shown } = props;
  const anchor = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={anchor}
        id={id}
        class="b picker"
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-label={`${label}: ${shown}`}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="cut">{shown}</span>
        <Icon name="down" size={12} />
      </button>
      {isOpen && (
        <Popover anchor={anchor} label={label} class="picker-pop" onClose={() => setOpen(false)}>
          <PickerList {...props} onClose={() => setOpen(false)} />
        </Popover>
      )}
    </>
  );
}

function PickerList({
  label,
  value,
  options,
  onPick,
  onSearch,
  onClose,
}: Props & { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const found = onSearch === undefined ? matching(options, text) : options;
  const shown = found.slice(0, MAX_SHOWN);
  const id = `picker-${label.replaceAll(/\W+/g, '-')}`;
  const pick = (option: PickerOption | undefined): void => {
    if (option === undefined) return;
    onPick(option.value);
    onClose();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setSelected((before) => (before + step + shown.length) % Math.max(1, shown.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      pick(shown[selected]);
    }
  };
  return (
    <>
      <input
        class="in-t"
        data-first
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={shown.length === 0 ? undefined : `${id}-${selected}`}
        aria-label={`Search: ${label}`}
        placeholder="Search"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setSelected(0);
          onSearch?.(event.currentTarget.value);
        }}
        onKeyDown={onKey}
      />
      <div class="picker-list" id={id} role="listbox" aria-label={label} tabIndex={-1}>
        {shown.map((option, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          <div
            key={option.value}
            id={`${id}-${index}`}
            role="option"
            class="hit"
            tabIndex={-1}
            aria-selected={index === selected}
            onClick={() => pick(option)}
            onMouseEnter={() => setSelected(index)}
          >
            <span class="cut" title={option.label}>
              {option.label}
            </span>
            {option.detail !== undefined && <span class="t3">{option.detail}</span>}
            {option.value === value && <Icon name="check" size={12} />}
          </div>
        ))}
      </div>
      {shown.length === 0 && <p class="pad t3">Nothing is called that.</p>}
      {found.length > MAX_SHOWN && (
        <p class="sm t3">
          {MAX_SHOWN} of {found.length}: search for the others.
        </p>
      )}
    </>
  );
}

function matching(options: readonly PickerOption[], text: string): readonly PickerOption[] {
  const words = text.toLowerCase().split(/\s+/);
  return options.filter(({ label, detail = '' }) => {
    const all = `${label} ${detail}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
