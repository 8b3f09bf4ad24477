import type { Costs, CostTable } from './cost-table.ts';

/** The table of docs/performance.md: its heading, a line, and a row a case. */
const TABLE = /(?<=^\| A request of 2 KB \|.*\n\|[-|]+\n)(?:\|.*\n)+/m;

const counted = (count: number) => count.toLocaleString('en-US');

function rowOf([name, costs]: [string, Costs]): string {
  const { journalRecords: records, journalBytes: bytes } = costs;
  const cells = [
    name,
    Math.round(costs.heapKb),
    costs.promises,
    costs.timers,
    costs.poolCalls,
    `${costs.reads} / ${costs.writes}`,
    records === undefined || bytes === undefined ? '' : `${records}, ${counted(bytes)}`,
    costs.statements,
    costs.threadMessages,
    costs.processMessages,
  ];
  return `| ${cells.join(' | ')} |\n`;
}

/** The page with the rows of these costs. */
export function withCosts(page: string, table: CostTable): string {
  return page.replace(TABLE, Object.entries(table).map(rowOf).join(''));
}
