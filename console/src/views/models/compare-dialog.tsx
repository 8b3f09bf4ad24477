import type { ComponentChildren } from 'preact';
import { pricePerMillion } from '../../format/money.ts';
import { contextSize, count, percent } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { latencyOf, type ModelRow, priceOf, throughputOf } from './model-facts.ts';

/** What is compared, one fact a row. `isBest`: which of two values is better; absent = neither is. */
interface Fact {
  readonly title: string;
  readonly value: (row: ModelRow) => number | null;
  readonly shown: (value: number) => string;
  readonly isBest?: 'lowest' | 'highest';
}

const FACTS: readonly Fact[] = [
  {
    title: 'Prompt, $ per million',
    value: ({ model }) => priceOf(model, 'prompt'),
    shown: pricePerMillion,
    isBest: 'lowest',
  },
  {
    title: 'Completion, $ per million',
    value: ({ model }) => priceOf(model, 'completion'),
    shown: pricePerMillion,
    isBest: 'lowest',
  },
  {
    title: 'Cached prompt, $ per million',
    value: ({ model }) => priceOf(model, 'input_cache_read'),
    shown: pricePerMillion,
    isBest: 'lowest',
  },
  { title: 'Context', value: ({ model }) => model.context_length, shown: contextSize, isBest: 'highest' },
  {
    title: 'Longest answer',
    value: ({ model }) => model.top_provider.max_completion_tokens,
    shown: contextSize,
    isBest: 'highest',
  },
  { title: 'Endpoints', value: ({ endpoints }) => endpoints.length || null, shown: count },
  {
    title: 'Answered, 24 hours',
    value: ({ lastDay }) => lastDay?.percent ?? null,
    shown: (share) => percent(share / 100),
    isBest: 'highest',
  },
  { title: 'First token, median', value: latencyOf, shown: duration, isBest: 'lowest' },
  { title: 'Tokens per second, median', value: throughputOf, shown: count, isBest: 'highest' },
];

interface Props {
  readonly rows: readonly ModelRow[];
  readonly onClose: () => void;
}

/** Models side by side. The better value of a row is bold. */
export function CompareDialog({ rows, onClose }: Props) {
  return (
    <Dialog title="Compare models" onClose={onClose} class="wide-d">
      <div class="pad scroll-x">
        <table class="in" aria-label="Models side by side">
          <thead>
            <tr>
              <th>
                <span class="vh">Fact</span>
              </th>
              {rows.map(({ model }) => (
                <th key={model.id} scope="col" class="num">
                  {model.id}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {FACTS.map((fact) => (
              <FactRow key={fact.title} fact={fact} rows={rows} />
            ))}
            <TextRow
              title="Takes"
              rows={rows}
              text={({ model }) => model.architecture.input_modalities.join(', ')}
            />
            <TextRow
              title="Gives"
              rows={rows}
              text={({ model }) => model.architecture.output_modalities.join(', ')}
            />
            <TextRow title="Knows until" rows={rows} text={({ model }) => model.knowledge_cutoff ?? '–'} />
            <TextRow
              title="Tools"
              rows={rows}
              text={({ model }) => (model.supported_parameters.includes('tools') ? 'yes' : 'no')}
            />
          </tbody>
        </table>
      </div>
    </Dialog>
  );
}

function FactRow({
  fact: { title, value, shown, isBest },
  rows,
}: { readonly fact: Fact } & Pick<Props, 'rows'>) {
  const values = rows.map(value);
  const known = values.filter((each) => each !== null);
  const best = isBest === undefined ? null : Math[isBest === 'lowest' ? 'min' : 'max'](...known);
  const differ = new Set(known).size > 1;
  return (
    <tr>
      <th scope="row">{title}</th>
      {values.map((each, index) => (
        <td key={rows[index]?.model.id} class="num">
          {each === null ? '–' : differ && each === best ? <b>{shown(each)}</b> : shown(each)}
        </td>
      ))}
    </tr>
  );
}

interface TextProps extends Pick<Props, 'rows'> {
  readonly title: string;
  readonly text: (row: ModelRow) => ComponentChildren;
}

function TextRow({ title, rows, text }: TextProps) {
  return (
    <tr>
      <th scope="row">{title}</th>
      {rows.map((row) => (
        <td key={row.model.id} class="num">
          {text(row)}
        </td>
      ))}
    </tr>
  );
}
