import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActiveFilter, FilterField } from './filter-fields.ts';
import { useChoices, useSetFilter } from './use-filters.ts';

interface Props {
  readonly field: FilterField;
  /** What holds now; null = the filter is being added. */
  readonly filter: ActiveFilter | null;
  readonly onDone: () => void;
}

/** Chooses or types the values of one filter. */
export function FilterEditor(props: Props) {
  return props.field.kind === 'choice' ? <Choices {...props} /> : <OneValue {...props} />;
}

/** Choices shown at once; typing narrows them. */
const MAX_SHOWN = 50;

function Choices({ field, filter, onDone }: Props) {
  const setFilter = useSetFilter();
  const [text, setText] = useState('');
  const input = useFocus();
  const all = useChoices(field);
  const values = filter?.values ?? [];
  const isExcluded = filter?.isExcluded ?? false;
  const wanted = text.trim().toLowerCase();
  const matching = all.filter(({ label, value }) => `${label} ${value}`.toLowerCase().includes(wanted));
  const toggle = (value: string): void => {
    const next = values.includes(value) ? values.filter((each) => each !== value) : [...values, value];
    setFilter(field, next, isExcluded);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const typed = matching[0]?.value ?? (field.isClosed === true ? undefined : text.trim());
    if (wanted !== '' && typed !== undefined && typed !== '' && !values.includes(typed)) toggle(typed);
    onDone();
  };
  return (
    <form class="pick" onSubmit={submit}>
      <input
        ref={input}
        class="in-t"
        aria-label={`Find ${field.label}`}
        placeholder={field.isClosed === true ? `Find ${field.label}` : `Find or type ${field.label}`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <ul>
        {matching.slice(0, MAX_SHOWN).map(({ value, label, detail }) => (
          <li key={value}>
            <label class="ck" title={value}>
              <input
                type="checkbox"
                checked={values.includes(value)}
                onChange={() => toggle(value)}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter') return;
                  event.preventDefault();
                  if (!values.includes(value)) toggle(value);
                  onDone();
                }}
              />
              <span class="cut">
                {label} {detail !== undefined && <span class="dim">{detail}</span>}
              </span>
            </label>
          </li>
        ))}
      </ul>
      {matching.length > MAX_SHOWN && (
        <p class="hint">
          First {MAX_SHOWN} of {matching.length}. Type to narrow.
        </p>
      )}
      {matching.length === 0 && wanted !== '' && field.isClosed !== true && (
        <p class="hint">↵ filters by what you typed.</p>
      )}
    </form>
  );
}

function OneValue({ field, filter, onDone }: Props) {
  const setFilter = useSetFilter();
  const [text, setText] = useState(filter?.values[0] ?? '');
  const [isWrong, setWrong] = useState(false);
  const input = useFocus();
  const submit = (event: Event): void => {
    event.preventDefault();
    const value = withoutUnit(text.trim(), field);
    if (field.kind === 'number' && value !== '' && !/^\d+(?:\.\d+)?$/.test(value)) {
      setWrong(true);
      return;
    }
    setFilter(field, value === '' ? [] : [value]);
    onDone();
  };
  return (
    <form class="pick" onSubmit={submit}>
      <label>
        {field.label} {field.operator}
        {field.unit !== undefined && <span class="dim"> in{field.unit}</span>}
        <input
          ref={input}
          class="in-t"
          inputMode={field.kind === 'number' ? 'decimal' : 'text'}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {isWrong && (
        <p class="hint bad" role="alert">
          Type a number such as 2.5.
        </p>
      )}
      <button class="b" type="submit">
        Apply filter
      </button>
    </form>
  );
}

/** A number as typed, without the unit that the field has anyway: `30s` is 30. */
function withoutUnit(text: string, { unit = '' }: FilterField): string {
  const end = unit.trim().toLowerCase();
  return end !== '' && text.toLowerCase().endsWith(end) ? text.slice(0, -end.length).trimEnd() : text;
}

function useFocus() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return input;
}
