import type { LimitWindow } from '../../format/windows.ts';
import { CheckField, MoneyField, SelectField, TextField } from '../../parts/form/fields.tsx';
import type { FieldState } from '../../parts/form/use-form.ts';

const RESETS = [
  ['daily', 'every day'],
  ['weekly', 'every week'],
  ['monthly', 'every month'],
  ['lifetime', 'never'],
] as const satisfies readonly (readonly [LimitWindow, string])[];

export function NameField({ field }: { readonly field: FieldState<string> }) {
  return (
    <TextField
      field={field}
      label="Name"
      maxLength={255}
      hint="Shown in the log and in analytics. Not secret."
    />
  );
}

/** How much of what the key may do in a minute, in place of the limits of all keys. */
export function MinuteFields({
  requests,
  tokens,
}: {
  readonly requests: FieldState<string>;
  readonly tokens: FieldState<string>;
}) {
  return (
    <div class="f-row g2">
      <TextField field={requests} label="Requests a minute" placeholder="as for all keys" />
      <TextField field={tokens} label="Tokens a minute" placeholder="as for all keys" />
    </div>
  );
}

export function ExpiryField({ field }: { readonly field: FieldState<string> }) {
  return (
    <TextField
      field={field}
      type="datetime-local"
      label="Expires"
      hint="In your zone. Leave it empty: the key then never expires."
    />
  );
}

/** The limit, when it resets, and what counts towards it. */
export function LimitFields({
  limit,
  reset,
  byok,
  warning,
}: {
  readonly limit: FieldState<string>;
  readonly reset: FieldState<LimitWindow>;
  readonly byok: FieldState<boolean>;
  /** Allowed, but worth a thought. */
  readonly warning: string | undefined;
}) {
  return (
    <>
      <div class="f-row g2">
        <MoneyField field={limit} label="Spending limit" placeholder="no limit" warning={warning} />
        <SelectField field={reset} label="Resets" options={RESETS} />
      </div>
      <CheckField
        field={byok}
        label="Count own provider keys"
        hint="Requests paid with your own provider keys use up the limit too, at list price."
      />
    </>
  );
}
