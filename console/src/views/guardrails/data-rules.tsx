import { SelectField, TextField } from '../../parts/form/fields.tsx';
import { FAMILIES, type Family, REGIONS, type Region, type Tristate } from './draft.ts';
import { fieldOf } from './other-rules.tsx';
import { type RuleProps, RuleSection } from './rule-section.tsx';

const RETENTION: readonly (readonly [Tristate, string])[] = [
  ['unset', 'Not set'],
  ['yes', 'only endpoints that retain nothing'],
  ['no', 'any endpoint'],
];

const TRAINING: readonly (readonly [Tristate, string])[] = [
  ['unset', 'Not set'],
  ['yes', 'allowed'],
  ['no', 'such endpoints do not serve'],
];

/** What endpoints may do with prompts, and where they may stand. */
export function DataRules(props: RuleProps) {
  const { draft, change, isReadOnly } = props;
  const retain = (family: Family, value: Tristate): void =>
    change({ zeroRetention: { ...draft.zeroRetention, [family]: value } });
  const toggle = (region: Region): void => {
    const next = draft.regions.includes(region)
      ? draft.regions.filter((each) => each !== region)
      : [...draft.regions, region];
    // In the order of the interface, so that ticking twice is no change.
    change({ regions: REGIONS.map(([each]) => each).filter((each) => next.includes(each)) });
  };
  return (
    <RuleSection
      title="Data"
      about="Which endpoints may see prompts. What another guardrail of the caller forbids stays forbidden."
    >
      <fieldset>
        <legend>Retention of prompts, by family of models</legend>
        <div class="g2">
          {FAMILIES.map(([family, title]) => (
            <SelectField
              key={family}
              label={title}
              options={RETENTION}
              disabled={isReadOnly}
              field={{
                id: `guardrail-retention-${family}`,
                value: draft.zeroRetention[family],
                onValue: (value) => retain(family, value),
                onLeave: () => {},
                problem: undefined,
              }}
            />
          ))}
        </div>
      </fieldset>
      <div class="g2">
        <SelectField
          label="Paid endpoints that train on prompts"
          field={fieldOf(props, 'paidTraining')}
          options={TRAINING}
          disabled={isReadOnly}
        />
        <SelectField
          label="Free endpoints that train on prompts"
          field={fieldOf(props, 'freeTraining')}
          options={TRAINING}
          disabled={isReadOnly}
        />
        <SelectField
          label="Free endpoints that publish prompts"
          field={fieldOf(props, 'freePublication')}
          options={TRAINING}
          disabled={isReadOnly}
        />
      </div>
      <fieldset>
        <legend>Only endpoints in these regions; none ticked means all</legend>
        <div class="r wrap">
          {REGIONS.map(([region, title]) => (
            <label class="ck" key={region}>
              <input
                type="checkbox"
                disabled={isReadOnly}
                checked={draft.regions.includes(region)}
                onChange={() => toggle(region)}
              />
              {title}
            </label>
          ))}
        </div>
      </fieldset>
    </RuleSection>
  );
}

/** An HTTP service that judges texts besides the filters. */
export function ServiceRules(props: RuleProps) {
  const disabled = props.isReadOnly;
  const hasService = props.draft.serviceUrl.trim() !== '';
  return (
    <RuleSection
      title="Own service"
      about="An HTTP service of yours that is asked about every text, in the format of the guide."
    >
      <TextField
        label="Address"
        field={fieldOf(props, 'serviceUrl')}
        placeholder="none"
        isMono
        disabled={disabled}
        hint="The configuration says which addresses may be called."
      />
      {hasService && (
        <div class="g2">
          <TextField
            label="Time limit, ms"
            field={fieldOf(props, 'serviceTimeoutMs')}
            disabled={disabled}
            hint="For all tries together."
          />
          <TextField label="Further tries" field={fieldOf(props, 'serviceRetries')} disabled={disabled} />
          <SelectField
            label="Without a verdict"
            field={fieldOf(props, 'serviceOnFailure')}
            options={[
              ['closed', 'texts are refused'],
              ['open', 'texts pass'],
            ]}
            disabled={disabled}
          />
          <TextField
            label="Characters of an answer at a time"
            field={fieldOf(props, 'serviceWindow')}
            placeholder="the whole answer"
            disabled={disabled}
          />
        </div>
      )}
    </RuleSection>
  );
}
