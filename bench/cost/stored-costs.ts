import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CostTable } from './cost-table.ts';
import { withCosts } from './page-table.ts';

const FILE = resolve('bench/cost/costs.json');

/** Shows the table of Node 20. */
const PAGE = resolve('docs/performance.md');
const PAGE_MAJOR = '20';

/** Node makes objects of its own, which differ between major versions. */
const MAJOR = process.versions.node.split('.')[0] ?? '';

type StoredCosts = Readonly<Record<string, CostTable>>;

const readAll = (): StoredCosts => JSON.parse(readFileSync(FILE, 'utf8')) as StoredCosts;

/** The table of this major version of Node; undefined if there is none. */
export function readCosts(): CostTable | undefined {
  return readAll()[MAJOR];
}

export function writeCosts(table: CostTable): void {
  writeFileSync(FILE, `${JSON.stringify({ ...readAll(), [MAJOR]: table }, undefined, 2)}\n`);
  writeFileSync(PAGE, pageWithCosts());
}

/** docs/performance.md as the stored table has it. */
export function pageWithCosts(): string {
  return withCosts(readFileSync(PAGE, 'utf8'), readAll()[PAGE_MAJOR] ?? {});
}

/** Why nothing can be compared here; undefined if it can. */
export function whyNotCompared(): string | undefined {
  if (process.platform !== 'linux')
    return 'costs are measured on Linux only, because they are read from /proc';
  if (readCosts() !== undefined) return undefined;
  const majors = Object.keys(readAll()).join(', ');
  return `bench/cost/costs.json has no table for Node ${MAJOR}, only for ${majors}: nothing is compared`;
}
