import { CheckField, MoneyField, SelectField, TextField } from '../../parts/form/fields.tsx';
import type { FieldState } from '../../parts/form/use-form.ts';
import type { Draft } from './draft.ts';
import { type RuleProps, RuleSection } from './rule-section.tsx';

/** A member of the draft as a field. */
export function fieldOf<Name extends keyof Draft & string>(
  { draft, change, problems }: RuleProps,
  name: Name,
): FieldState<Draft[Name]> {
  return {
    id: `guardrail-${name}`,
    value: draft[name],
    onValue: (value) => change({ [name]: value }),
    onLeave: () => {},
    problem: (problems as Readonly<Record<string, string | undefined>>)[name],
  };
}

export function NameRules(props: RuleProps) {
  return (
    <RuleSection title="Name" about="How the log and refusals call it.">
      <TextField label="Name" field={fieldOf(props, 'name')} maxLength={200} disabled={props.isReadOnly} />
      <TextField
        label="Description"
        field={fieldOf(props, 'description')}
        lines={2}
        maxLength={1000}
        disabled={props.isReadOnly}
      />
    </RuleSection>
  );
}

/** Models and providers: what is left for a request after every guardrail of its caller. */
export function RouteRules(props: RuleProps) {
  const disabled = props.isReadOnly;
  return (
    <RuleSection
      title="Models and providers"
      about="What is left after this and every other guardrail of the caller. One name a line; empty means no rule."
    >
      <div class="g2">
        <TextField
          label="Only these models"
          field={fieldOf(props, 'allowedModels')}
          lines={3}
          isMono
          disabled={disabled}
        />
        <TextField
          label="Not these models"
          field={fieldOf(props, 'ignoredModels')}
          lines={3}
          isMono
          disabled={disabled}
        />
      </div>
      <div class="g2">
        <TextField
          label="Only these providers"
          field={fieldOf(props, 'allowedProviders')}
          lines={3}
          isMono
          disabled={disabled}
        />
        <TextField
          label="Not these providers"
          field={fieldOf(props, 'ignoredProviders')}
          lines={3}
          isMono
          disabled={disabled}
        />
      </div>
    </RuleSection>
  );
}

/** The most that a key or a member spends. */
export function BudgetRules(props: RuleProps) {
  const disabled = props.isReadOnly;
  return (
    <RuleSection
      title="Budget"
      about="Per key and per member, each on its own. Each period starts at 00:00 UTC."
    >
      <div class="g2">
        <MoneyField label="Limit" field={fieldOf(props, 'limit')} placeholder="none" disabled={disabled} />
        <SelectField
          label="Resets"
          field={fieldOf(props, 'reset')}
          options={[
            ['', 'never'],
            ['daily', 'every day'],
            ['weekly', 'every week'],
            ['monthly', 'every month'],
          ]}
          disabled={disabled}
        />
      </div>
      <CheckField
        label="Count what own credentials served"
        field={fieldOf(props, 'countsByok')}
        disabled={disabled}
      />
    </RuleSection>
  );
}
