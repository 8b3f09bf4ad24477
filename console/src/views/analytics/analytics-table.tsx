import type { AnalyticsMeta, AnalyticsRow, Granularity } from '../../api/contract.ts';
import { count } from '../../format/numbers.ts';
import { OTHER_SWATCH, SWATCHES } from '../../parts/chart/time-chart.tsx';
import { bucketText } from '../../parts/chart/time-scale.ts';
import { exactFigure } from '../../parts/exact.ts';
import { ScrolledTable } from '../../parts/scrolled-table.tsx';
import { exactText, firstGroups, formatsOf, groupOf, metricValue } from './analytics-answer.ts';
import type { Question } from './analytics-question.ts';

/** More rows are in the file. */
const SHOWN = 500;

interface Props {
  readonly rows: readonly AnalyticsRow[];
  readonly question: Question;
  readonly metrics: readonly AnalyticsMeta['metrics'][number][];
}

/** The rows of an answer, in the order of the gateway. */
export function AnalyticsTable({ rows, question, metrics }: Props) {
  const groups = firstGroups(rows, question);
  const { granularity, dimensions } = question;
  return (
    <ScrolledTable label="Rows of the answer">
      <table class="anat">
        <thead>
          <tr>
            {granularity !== null && <th>{granularity}</th>}
            {dimensions.map((name) => (
              <th key={name}>{name}</th>
            ))}
            {metrics.map(({ name }) => (
              <th class="num" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map((row) => {
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
                {metrics.map((metric) => {
                  const value = metricValue(row, metric.name);
                  return (
                    <td
                      class="num"
                      key={metric.name}
                      {...(value !== null && exactFigure(exactText(row[metric.name])))}
                    >
                      {value === null ? '–' : formatsOf(metric).cell(value)}
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
