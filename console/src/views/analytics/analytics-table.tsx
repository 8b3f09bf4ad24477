import type { AnalyticsMeta, AnalyticsRow, Granularity } from '../../api/contract.ts';
import { count } from '../../format/numbers.ts';
import { OTHER_SWATCH, SWATCHES } from '../../parts/chart/time-chart.tsx';
import { bucketText } from '../../parts/chart/time-scale.ts';
import { exactFigure } from '../../parts/exact.ts';
import { ScrolledTable } from '../../parts/scrolled-table.tsx';
import { exactText, firstGroups, formatsOf, groupOf, metricValue } from './analytics-answer.ts';
import type { Question } from './analytics-question.ts';
import { titleNamed, titleOf } from './analytics-titles.ts';

/** More rows are in the file. */
const SHOWN = 500;

interface Props {
  readonly rows: readonly AnalyticsRow[];
  readonly question: Question;
  readonly meta: AnalyticsMeta;
  readonly metrics: readonly AnalyticsMeta['metrics'][number][];
}

/** The rows of an answer, in the order of the gateway. */
export function AnalyticsTable({ rows, question, meta, metrics }: Props) {
  const groups = firstGroups(rows, question);
  const { granularity, dimensions } = question;
  const shown = rows.slice(0, SHOWN);
  const columns = metrics.map((metric) => ({
    metric,
    format: formatsOf(metric).notation.column(shown.flatMap((row) => metricValue(row, metric.name) ?? [])),
  }));
  return (
    <ScrolledTable label="Rows of the answer">
      <table class="anat">
        <thead>
          <tr>
            {granularity !== null && <th>{titleNamed(granularity, meta.granularities)}</th>}
            {dimensions.map((name) => (
              <th key={name} title={name}>
                {titleNamed(name, meta.dimensions)}
              </th>
            ))}
            {metrics.map((metric) => (
              <th class="num" key={metric.name} title={metric.name}>
                {titleOf(metric)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            const date = String(row[`date__${granularity}`] ?? '');
            const place = groups.indexOf(groupOf(row, question));
            return (
              <tr key={`${date} ${groupOf(row, question)}`}>
                {granularity !== null && (
                  <td class="nw">{bucketText(Date.parse(date), granularity as Granularity)}</td>
                )}
                {dimensions.map((name, index) => (
                  <td key={name}>
                    <span class="r">
                      {index === 0 && <span class={`swatch ${SWATCHES[place] ?? OTHER_SWATCH}`} />}
                      <span class="cut">{row[name] ?? '–'}</span>
                    </span>
                  </td>
                ))}
                {columns.map(({ metric, format }) => {
                  const value = metricValue(row, metric.name);
                  return (
                    <td
                      class="num"
                      key={metric.name}
                      {...(value !== null && exactFigure(exactText(row[metric.name])))}
                    >
                      {value === null ? '–' : format(value)}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length > SHOWN && (
        <p class="pad t3 sm">
          First {count(SHOWN)} of {count(rows.length)} rows. The CSV has all; a coarser time or a filter gives
          fewer.
        </p>
      )}
    </ScrolledTable>
  );
}
