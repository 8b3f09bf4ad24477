import type { ComponentChildren } from 'preact';
import { Icon } from '../icon.tsx';
import { Picker, type PickerOption } from '../picker.tsx';
import { FieldRow } from './fields.tsx';
import type { FieldState } from './use-form.ts';

interface Props {
  readonly field: FieldState<readonly string[]>;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What the button says while none is chosen: "All models". */
  readonly none: string;
  /** What it says afterwards: "Add a model". */
  readonly add: string;
  readonly options: readonly PickerOption[];
  readonly disabled?: boolean;
}

/** Names that were chosen from a list, each with a button that removes it, and the list to choose more from. */
export function NamesField({ field, label, hint, none, add, options, disabled = false }: Props) {
  const { id, value: chosen, onValue } = field;
  const shown = chosen.length === 0 ? none : add;
  return (
    <FieldRow field={field} label={label} hint={hint}>
      <div class="r wrap">
        {chosen.map((name) => (
          <span class="chip" key={name}>
            <span class="v">
              <span class="cut" title={name}>
                {name}
              </span>
            </span>
            {!disabled && (
              <button
                type="button"
                aria-label={`Remove ${name}`}
                onClick={() => onValue(chosen.filter((each) => each !== name))}
              >
                <Icon name="cross" size={12} />
              </button>
            )}
          </span>
        ))}
        {disabled ? (
          chosen.length === 0 && <span class="t3">{none}</span>
        ) : (
          <Picker
            id={id}
            label={label}
            shown={shown}
            value=""
            options={options.filter(({ value }) => !chosen.includes(value))}
            onPick={(name) => onValue([...chosen, name])}
          />
        )}
      </div>
    </FieldRow>
  );
}
