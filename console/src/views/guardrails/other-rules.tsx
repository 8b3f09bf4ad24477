import { modelOptions, useAllModels } from '../../api/models.ts';
import { useAllProviders } from '../../api/providers.ts';
import { CheckField, MoneyField, SelectField, TextField } from '../../parts/form/fields.tsx';
import { NamesField } from '../../parts/form/names-field.tsx';
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
    problem: problems[name],
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

const LISTS = [
  ['allowedModels', 'Only these models', 'models', 'All models'],
  ['ignoredModels', 'Not these models', 'models', 'None left out'],
  ['allowedProviders', 'Only these providers', 'providers', 'All providers'],
  ['ignoredProviders', 'Not these providers', 'providers', 'None left out'],
] as const;

const ADD = { models: 'Add a model', providers: 'Add a provider' } as const;

/** Models and providers: what is left for a request after every guardrail of its caller. */
export function RouteRules(props: RuleProps) {
  const options = {
    models: modelOptions(useAllModels(), 'canonical_slug'),
    providers: (useAllProviders().data ?? []).map(({ slug, name }) => ({
      value: slug,
      label: name,
      detail: slug,
    })),
  };
  return (
    <RuleSection
      title="Models and providers"
      about="What is left after this and every other guardrail of the caller."
    >
      <div class="g2">
        {LISTS.map(([field, label, of, none]) => (
          <NamesField
            key={field}
            label={label}
            field={fieldOf(props, field)}
            none={none}
            add={ADD[of]}
            options={options[of]}
            disabled={props.isReadOnly}
          />
        ))}
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
        label="Count what own provider keys served"
        field={fieldOf(props, 'countsByok')}
        disabled={disabled}
      />
    </RuleSection>
  );
}
