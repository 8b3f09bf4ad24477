import type { DestinationTypes } from '../../api/contract.ts';
import type { FieldState } from '../../parts/form/use-form.ts';
import { Icon } from '../../parts/icon.tsx';
import type { GroupText, RuleText } from './destination-form.ts';

interface Props {
  readonly field: FieldState<readonly GroupText[]>;
  readonly fields: DestinationTypes['filter_fields'];
  readonly isDisabled: boolean;
}

/** Groups of rules: a generation that any group accepts is sent. */
export function RulesEditor({ field, fields, isDisabled }: Props) {
  const { id, value: groups, onValue, problem } = field;
  const first = fields[0];
  const rule: RuleText = { field: first?.name ?? '', operator: first?.operators[0]?.name ?? '', value: '' };
  const set = (index: number, group: GroupText | null): void =>
    onValue(group === null ? groups.toSpliced(index, 1) : groups.with(index, group));
  return (
    <fieldset class="f-row" id={id} disabled={isDisabled} aria-describedby={`${id}-note`}>
      <legend>Only generations that fit</legend>
      {groups.map((group, index) => (
        <GroupRows
          key={index}
          title={groups.length === 1 ? 'Rules' : `Rules, group ${index + 1}`}
          group={group}
          fields={fields}
          rule={rule}
          onGroup={(next) => set(index, next)}
        />
      ))}
      <div class="r">
        <button class="b" type="button" onClick={() => onValue([...groups, { logic: 'and', rules: [rule] }])}>
          <Icon name="plus" size={14} />
          {groups.length === 0 ? 'Add a rule' : 'Or others'}
        </button>
      </div>
      <p class={problem === undefined ? 'hint' : 'err'} id={`${id}-note`}>
        {problem ?? (groups.length === 0 ? 'No rules: all generations are sent.' : '')}
      </p>
    </fieldset>
  );
}

interface GroupProps {
  readonly title: string;
  readonly group: GroupText;
  readonly fields: DestinationTypes['filter_fields'];
  /** What a new row begins with. */
  readonly rule: RuleText;
  /** Null = it goes. */
  readonly onGroup: (group: GroupText | null) => void;
}

function GroupRows({ title, group, fields, rule, onGroup }: GroupProps) {
  const { logic, rules } = group;
  const set = (index: number, next: RuleText): void => onGroup({ logic, rules: rules.with(index, next) });
  const remove = (index: number): void =>
    onGroup(rules.length === 1 ? null : { logic, rules: rules.toSpliced(index, 1) });
  return (
    <fieldset class="stack rules" aria-label={title}>
      {rules.length > 1 && (
        <select
          class="in-t"
          aria-label="How rules are joined"
          value={logic}
          onChange={({ currentTarget }) =>
            onGroup({ logic: currentTarget.value as GroupText['logic'], rules })
          }
        >
          <option value="and">all of these</option>
          <option value="or">any of these</option>
        </select>
      )}
      {rules.map((each, index) => (
        <RuleRow
          key={index}
          rule={each}
          fields={fields}
          onRule={(next) => set(index, next)}
          onRemove={() => remove(index)}
        />
      ))}
      <div class="r">
        <button class="b" type="button" onClick={() => onGroup({ logic, rules: [...rules, rule] })}>
          <Icon name="plus" size={14} />
          And another
        </button>
      </div>
    </fieldset>
  );
}

interface RowProps {
  readonly rule: RuleText;
  readonly fields: DestinationTypes['filter_fields'];
  readonly onRule: (rule: RuleText) => void;
  readonly onRemove: () => void;
}

function RuleRow({ rule, fields, onRule, onRemove }: RowProps) {
  const operators = fields.find(({ name }) => name === rule.field)?.operators ?? [];
  const needsValue = operators.find(({ name }) => name === rule.operator)?.needs_value ?? true;
  const setField = (name: string): void => {
    const known = fields.find((each) => each.name === name)?.operators ?? [];
    const isKept = known.some((each) => each.name === rule.operator);
    onRule({ ...rule, field: name, operator: isKept ? rule.operator : (known[0]?.name ?? '') });
  };
  return (
    <div class="r">
      <select
        class="in-t"
        aria-label="Field"
        value={rule.field}
        onChange={({ currentTarget }) => setField(currentTarget.value)}
      >
        {fields.map(({ name }) => (
          <option key={name} value={name}>
            {name.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
      <select
        class="in-t"
        aria-label="Comparison"
        value={rule.operator}
        onChange={({ currentTarget }) => onRule({ ...rule, operator: currentTarget.value })}
      >
        {operators.map(({ name }) => (
          <option key={name} value={name}>
            {WORDS[name] ?? name.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
      {needsValue && (
        <input
          class="in-t"
          aria-label="Value"
          value={rule.value}
          onInput={({ currentTarget }) => onRule({ ...rule, value: currentTarget.value })}
        />
      )}
      <button class="b icon" type="button" aria-label="Remove the rule" onClick={onRemove}>
        <Icon name="cross" size={12} />
      </button>
    </div>
  );
}

/** Operators whose names say too little. */
const WORDS: Readonly<Record<string, string>> = {
  regex: 'matches',
  gt: 'above',
  gte: 'at least',
  lt: 'below',
  lte: 'at most',
  exists: 'is there',
  not_exists: 'is absent',
};
