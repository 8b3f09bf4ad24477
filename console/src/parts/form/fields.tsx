import type { ComponentChildren } from 'preact';
import { Icon } from '../icon.tsx';
import type { FieldState } from './use-form.ts';

interface Shared {
  readonly label: string;
  /** Below the field, while nothing is wrong with it. */
  readonly hint?: ComponentChildren;
  /** Allowed, but worth a thought. */
  readonly warning?: string | undefined;
  readonly disabled?: boolean;
}

type FieldProps<Value> = Shared & { readonly field: FieldState<Value> };

/** The label above a control and its hint, warning or problem below. */
export function FieldRow({
  field: { id, problem },
  label,
  hint,
  warning,
  children,
}: Shared & {
  readonly field: Pick<FieldState<unknown>, 'id' | 'problem'>;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="f-row">
      <label for={id}>{label}</label>
      {children}
      <FieldNote id={id} problem={problem} warning={warning} hint={hint} />
    </div>
  );
}

function FieldNote({
  id,
  problem,
  warning,
  hint,
}: Pick<Shared, 'warning' | 'hint'> & { readonly id: string; readonly problem: string | undefined }) {
  const text = problem ?? warning;
  if (text !== undefined) {
    return (
      <p class={`err ${problem === undefined ? 'soft' : ''}`} id={`${id}-note`}>
        <Icon name="warning" size={14} />
        <span>{text}</span>
      </p>
    );
  }
  return hint === undefined ? null : (
    <p class="hint" id={`${id}-note`}>
      {hint}
    </p>
  );
}

/** Attributes of every control. */
function controlOf({
  field: { id, problem, onLeave },
  hint,
  warning,
  disabled,
}: Omit<Shared, 'label'> & { readonly field: Omit<FieldState<unknown>, 'onValue'> }) {
  return {
    id,
    disabled,
    onBlur: onLeave,
    'aria-invalid': problem !== undefined,
    'aria-describedby': (problem ?? warning ?? hint) === undefined ? undefined : `${id}-note`,
  };
}

interface TextProps extends FieldProps<string> {
  readonly placeholder?: string;
  readonly isMono?: boolean;
  /** Lines; more than one makes it a text area. */
  readonly lines?: number;
  /** Hides what is typed, and keeps browsers from storing it. */
  readonly isSecret?: boolean;
  readonly maxLength?: number;
  readonly type?: 'text' | 'datetime-local';
  /** Values that the browser offers while typing; others can be typed. */
  readonly suggestions?: readonly (readonly [value: string, title: string])[];
}

export function TextField(props: TextProps) {
  const {
    field,
    placeholder,
    isMono = false,
    lines = 1,
    isSecret = false,
    maxLength,
    type = 'text',
    suggestions,
  } = props;
  const shared = {
    ...controlOf(props),
    class: `in-t ${isMono ? 'mono' : ''}`,
    placeholder,
    maxLength,
    value: field.value,
    autocomplete: 'off',
    spellcheck: false,
  } as const;
  return (
    <FieldRow {...props}>
      {lines > 1 ? (
        <textarea {...shared} rows={lines} onInput={(event) => field.onValue(event.currentTarget.value)} />
      ) : (
        <input
          {...shared}
          type={isSecret ? 'password' : type}
          list={suggestions === undefined ? undefined : `${field.id}-values`}
          onInput={(event) => field.onValue(event.currentTarget.value)}
        />
      )}
      {suggestions !== undefined && (
        <datalist id={`${field.id}-values`}>
          {suggestions.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </datalist>
      )}
    </FieldRow>
  );
}

/** An amount of dollars, as text while it is typed: see `parseMoney`. */
export function MoneyField(props: FieldProps<string> & { readonly placeholder?: string }) {
  const { field, placeholder } = props;
  return (
    <FieldRow {...props}>
      <div class="aff">
        <span class="pre" aria-hidden="true">
          $
        </span>
        <input
          {...controlOf(props)}
          class="in-t"
          inputMode="decimal"
          autocomplete="off"
          placeholder={placeholder}
          value={field.value}
          onInput={(event) => field.onValue(event.currentTarget.value)}
        />
      </div>
    </FieldRow>
  );
}

interface SelectProps<Value extends string> extends FieldProps<Value> {
  readonly options: readonly (readonly [value: Value, title: string])[];
}

export function SelectField<Value extends string>(props: SelectProps<Value>) {
  const { field, options } = props;
  return (
    <FieldRow {...props}>
      <select
        {...controlOf(props)}
        class="in-t"
        value={field.value}
        onChange={(event) => field.onValue(event.currentTarget.value as Value)}
      >
        {options.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </FieldRow>
  );
}

/** A switch with its explanation. */
export function CheckField(props: FieldProps<boolean>) {
  const { field, label, hint, disabled } = props;
  return (
    <div class="f-row">
      <label class="ck">
        <input
          {...controlOf({ ...props, hint: undefined })}
          disabled={disabled}
          type="checkbox"
          checked={field.value}
          onChange={(event) => field.onValue(event.currentTarget.checked)}
        />
        {label}
        {hint !== undefined && <span class="hint">{hint}</span>}
      </label>
      <FieldNote id={field.id} problem={field.problem} warning={props.warning} />
    </div>
  );
}

/** Names one per line, as a list; empty lines and blanks do not count. */
export function linesOf(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
