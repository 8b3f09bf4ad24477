import type { ComponentChildren } from 'preact';
import { useCallback, useRef, useState } from 'preact/hooks';
import { Icon } from '../icon.tsx';
import { useShortcut } from '../keyboard.ts';
import { Popover } from '../popover.tsx';
import { FilterEditor } from './filter-editor.tsx';
import { type ActiveFilter, type FilterField, operatorOf } from './filter-fields.ts';
import { useChoices, useFilters, useSetFilter } from './use-filters.ts';

interface Props {
  readonly fields: readonly FilterField[];
  /** Before the chips, such as a search. */
  readonly before?: ComponentChildren;
  /** At the right end. */
  readonly children?: ComponentChildren;
}

/** The chips of a view, which live in the address, and the button that adds one. F adds one too. */
export function FilterBar({ fields, before, children }: Props) {
  const filters = useFilters(fields);
  return (
    <search class="filters" aria-label="Filters">
      {before}
      {filters.map((filter) => (
        <Chip key={`${filter.field.name} ${filter.isExcluded}`} filter={filter} />
      ))}
      <AddFilter fields={fields} filters={filters} />
      <span class="push wide" />
      {children}
    </search>
  );
}

function Chip({ filter }: { readonly filter: ActiveFilter }) {
  const { field, values, isExcluded } = filter;
  const setFilter = useSetFilter();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const choices = useChoices(field);
  const shown = values.map((value) => choices.find((choice) => choice.value === value)?.label ?? value);
  const text = `${shown.join(', ')}${field.unit ?? ''}`;
  return (
    <>
      <span class="chip">
        <span>{field.label}</span>
        {field.canExclude === true ? (
          <button
            class="op"
            type="button"
            aria-label={`Filter ${field.label}: ${operatorOf(filter)}, turn into its opposite`}
            onClick={() => setFilter(field, values, !isExcluded)}
          >
            {operatorOf(filter)}
          </button>
        ) : (
          <span class="op">{operatorOf(filter)}</span>
        )}
        <button
          ref={button}
          class="v"
          type="button"
          title={text}
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <span class="cut">{text}</span>
        </button>
        <button
          type="button"
          aria-label={`Remove filter ${field.label}`}
          onClick={() => setFilter(field, [])}
        >
          <Icon name="cross" size={12} />
        </button>
      </span>
      {isOpen && (
        <Popover anchor={button} label={`Filter ${field.label}`} onClose={() => setOpen(false)}>
          <FilterEditor field={field} filter={filter} onDone={() => setOpen(false)} />
        </Popover>
      )}
    </>
  );
}

interface AddProps {
  readonly fields: readonly FilterField[];
  readonly filters: readonly ActiveFilter[];
}

function AddFilter({ fields, filters }: AddProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState<FilterField | null>(null);
  const open = useCallback(() => {
    setChosen(null);
    setOpen(true);
  }, []);
  const close = (): void => setOpen(false);
  useShortcut('f', open);
  const filterOf = (field: FilterField) => filters.find((filter) => filter.field.name === field.name) ?? null;
  const free = fields.filter((field) => filterOf(field) === null);
  if (free.length === 0 && !isOpen) return null;
  return (
    <>
      <button
        ref={button}
        class="b quiet"
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={isOpen ? close : open}
      >
        <Icon name="plus" size={14} />
        Filter
      </button>
      {isOpen && (
        <Popover anchor={button} label="Add a filter" onClose={close}>
          {chosen === null ? (
            <ul class="menu">
              {free.map((field) => (
                <li key={field.name}>
                  <button type="button" onClick={() => setChosen(field)}>
                    {field.label}
                    {field.operator !== undefined && <span class="dim"> {field.operator}</span>}
                  </button>
                </li>
              ))}
            </ul>
          ) : (
            <FilterEditor field={chosen} filter={filterOf(chosen)} onDone={close} />
          )}
        </Popover>
      )}
    </>
  );
}
