import { METRICS, type Metric, type Row, type ScenarioResult } from './scenario.ts';
import { type Spread, spreadOf } from './spread.ts';
import type { Outcome } from './targets.ts';

/** The figures of a scenario as text: medians, and the range of all rounds. */
export function scenarioText({ name, title, rows }: ScenarioResult): string {
  const metrics = (Object.keys(METRICS) as Metric[]).filter((metric) =>
    rows.some(({ values }) => values[metric] !== undefined),
  );
  const head = ['', ...metrics.map((metric) => METRICS[metric].title)];
  const body = rows.map((row) => [row.name, ...metrics.map((metric) => cellOf(row, metric))]);
  return `${name}: ${title}\n${tableText([head, ...body])}`;
}

/** Targets and figures as text. */
export function outcomesText(outcomes: readonly Outcome[]): string {
  const head = ['', 'reached', 'at least', 'aim', ''];
  const body = outcomes.map(({ title, unit, bound, aim, better, reached, verdict }) => {
    const sign = better === 'lower' ? '<=' : '>=';
    const suffix = unit === 'x' ? unit : ` ${unit}`;
    return [
      title,
      spreadText(reached, 2) + suffix,
      `${sign} ${bound}${suffix}`,
      `${sign} ${aim}${suffix}`,
      verdict,
    ];
  });
  return tableText([head, ...body]);
}

function cellOf({ values }: Row, metric: Metric): string {
  const measured = values[metric];
  return measured === undefined ? '' : spreadText(spreadOf(measured), METRICS[metric].digits);
}

function spreadText({ median, least, most }: Spread, digits: number): string {
  const text = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return least === most ? text(median) : `${text(median)} (${text(least)}..${text(most)})`;
}

/** Markdown, so that it can be put into a page as it is. */
function tableText([head = [], ...body]: readonly string[][]): string {
  const rows = [head, ...body];
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('');
}
