import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ClassifierObject } from '../../api/contract.ts';
import { Icon } from '../../parts/icon.tsx';
import {
  MAX_DIMENSIONS,
  operatorsOf,
  type Question,
  type QuestionFilter,
  type Vocabulary,
} from './analytics-question.ts';
import { titleNamed, titleOf } from './analytics-titles.ts';

interface Props {
  readonly meta: Vocabulary;
  /** Those whose tags can be asked for. */
  readonly classifiers: readonly ClassifierObject[];
  readonly question: Question;
  readonly onChange: (changed: Partial<Question>) => void;
  /** Null = none. */
  readonly onClassifier: (id: string | null) => void;
  /** The choice of the range. */
  readonly children: ComponentChildren;
}

/** Long buckets begin at midnight UTC, whatever the reader's zone. */
const UTC_BUCKETS: Readonly<Record<string, string>> = {
  day: 'day (UTC)',
  week: 'week (UTC, from Monday)',
  month: 'month (UTC)',
};

/** The question as a sentence of chips: show metrics by dimensions per time, where filters hold, in an order. */
export function QuestionEditor(props: Props) {
  const { meta, classifiers, question, onChange, onClassifier, children } = props;
  const { metrics, dimensions, granularity, filters, order } = question;
  const ordered: readonly (readonly [name: string, title: string])[] = [
    ...(granularity === null ? [] : [['date', 'Time'] as const]),
    ...metrics.map((name) => [name, titleNamed(name, meta.metrics)] as const),
    ...dimensions.map((name) => [name, titleNamed(name, meta.dimensions)] as const),
  ];
  return (
    <fieldset class="qb" aria-label="Question">
      <Part word="Show">
        <Names
          what="metric"
          all={meta.metrics}
          chosen={metrics}
          isLastKept
          onChange={(chosen) => onChange({ metrics: chosen })}
        />
      </Part>
      <Part word="by">
        <Names
          what="dimension"
          all={meta.dimensions}
          chosen={dimensions}
          most={MAX_DIMENSIONS}
          onChange={(chosen) => onChange({ dimensions: chosen })}
        />
        {classifiers.length > 0 && (
          <Choice
            label="Classifier"
            value={meta.classifier?.id ?? ''}
            options={[
              ['', '+ tags of a classifier'],
              ...classifiers.map(({ id, name }): [string, string] => [id, `tags of ${name}`]),
            ]}
            onChange={(id) => onClassifier(id === '' ? null : id)}
          />
        )}
      </Part>
      <Part word="per">
        <Choice
          label="Time buckets"
          value={granularity ?? ''}
          options={[
            ['', 'whole range'],
            ...meta.granularities.map(({ name }): [string, string] => [name, UTC_BUCKETS[name] ?? name]),
          ]}
          onChange={(value) => onChange({ granularity: value === '' ? null : value })}
        />
      </Part>
      <Part word="for">{children}</Part>
      <Part word="where">
        {filters.map((filter) => (
          <span class="chip" key={`${filter.field} ${filter.operator} ${filter.value}`}>
            <span title={filter.field}>{titleNamed(filter.field, meta.dimensions)}</span>
            <span class="op">{OPERATOR_TITLES[filter.operator] ?? filter.operator}</span>
            <span class="v" title={filter.value}>
              <span class="cut">{filter.value}</span>
            </span>
            <button
              type="button"
              aria-label={`Remove filter ${titleNamed(filter.field, meta.dimensions)}`}
              onClick={() => onChange({ filters: filters.filter((each) => each !== filter) })}
            >
              <Icon name="cross" size={12} />
            </button>
          </span>
        ))}
        <NewFilter meta={meta} onAdd={(filter) => onChange({ filters: [...filters, filter] })} />
      </Part>
      <Part word="ordered by">
        <Choice
          label="Order"
          value={order === null ? '' : `${order.field}.${order.direction}`}
          options={[
            ['', granularity === null ? 'the first metric' : 'latest first'],
            ...ordered.flatMap(([name, title]): [string, string][] => [
              [`${name}.desc`, `${title}, highest first`],
              [`${name}.asc`, `${title}, lowest first`],
            ]),
          ]}
          onChange={(value) => {
            const [field = '', direction] = value.split('.');
            onChange({
              order: field === '' ? null : { field, direction: direction === 'asc' ? 'asc' : 'desc' },
            });
          }}
        />
      </Part>
    </fieldset>
  );
}

/** A word of the sentence with what can be chosen behind it. */
function Part({ word, children }: { readonly word: string; readonly children: ComponentChildren }) {
  return (
    <div class="qp">
      <span class="w">{word}</span>
      <div class="qc">{children}</div>
    </div>
  );
}

interface NamesProps {
  readonly what: string;
  readonly all: readonly { readonly name: string; readonly display_label: string }[];
  readonly chosen: readonly string[];
  readonly most?: number;
  /** The last one cannot be removed. */
  readonly isLastKept?: boolean;
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Chosen names as chips, and a list that adds one. */
function Names({ what, all, chosen, most = all.length, isLastKept = false, onChange }: NamesProps) {
  const labelOf = (name: string): string => titleNamed(name, all);
  const others = all.filter(({ name }) => !chosen.includes(name));
  return (
    <>
      {chosen.map((name) => (
        <span class="chip" key={name}>
          <span class="v" title={name}>
            {labelOf(name)}
          </span>
          {!(isLastKept && chosen.length === 1) && (
            <button
              type="button"
              aria-label={`Remove ${what} ${labelOf(name)}`}
              onClick={() => onChange(chosen.filter((each) => each !== name))}
            >
              <Icon name="cross" size={12} />
            </button>
          )}
        </span>
      ))}
      {chosen.length < most && (
        <Choice
          label={`Add a ${what}`}
          options={[['', `+ ${what}`], ...others.map((each): [string, string] => [each.name, titleOf(each)])]}
          onChange={(name) => name !== '' && onChange([...chosen, name])}
        />
      )}
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  /** Absent: the list only adds something. */
  readonly value?: string;
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value = '', options, onChange }: ChoiceProps) {
  const isAdding = options[0]?.[0] === value && options[0][1].startsWith('+');
  return (
    <select
      class={isAdding ? 'in-t short adds' : 'in-t short'}
      aria-label={label}
      value={value}
      onChange={(event) => {
        onChange(event.currentTarget.value);
        // A list that only adds shows its first entry again.
        event.currentTarget.value = value;
      }}
    >
      {options.map(([name, title]) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </select>
  );
}

const OPERATOR_TITLES: Readonly<Record<string, string>> = {
  eq: 'is',
  neq: 'is not',
  in: 'is any of',
  not_in: 'is none of',
  gt: 'after',
  gte: 'from',
  lt: 'before',
  lte: 'up to',
};

function NewFilter({
  meta,
  onAdd,
}: {
  readonly meta: Vocabulary;
  readonly onAdd: (filter: QuestionFilter) => void;
}) {
  const [field, setField] = useState('');
  const [operator, setOperator] = useState('eq');
  const [value, setValue] = useState('');
  const takesList = meta.operators.find(({ name }) => name === operator)?.value_type === 'array';
  const choose = (name: string): void => {
    setField(name);
    if (!operatorsOf(name, meta).some((each) => each.name === operator)) setOperator('eq');
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (field === '' || value.trim() === '') return;
    onAdd({ field, operator, value: value.trim() });
    setField('');
    setValue('');
  };
  return (
    <form class="r tight" onSubmit={submit}>
      <Choice
        label="Add a filter"
        value={field}
        options={[
          ['', '+ filter'],
          ...meta.dimensions.map((each): [string, string] => [each.name, titleOf(each)]),
        ]}
        onChange={choose}
      />
      {field !== '' && (
        <>
          <Choice
            label="Operator"
            value={operator}
            options={operatorsOf(field, meta).map(({ name }): [string, string] => [
              name,
              OPERATOR_TITLES[name] ?? name,
            ])}
            onChange={setOperator}
          />
          <input
            class="in-t short"
            aria-label={takesList ? 'Values, separated by commas' : 'Value'}
            placeholder={takesList ? 'values, separated by commas' : 'value'}
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
          <button class="b" type="submit">
            Add filter
          </button>
        </>
      )}
    </form>
  );
}
