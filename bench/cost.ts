/**
 * What a request costs, in figures that do not depend on how fast or busy the machine is, beside the table of
 * `bench/cost/costs.json`.
 *
 *   npm run cost                # exit 1 if something differs
 *   npm run cost -- --write     # writes the table of this major version of Node
 */
import { changesOf, changesText, costsText } from './cost/cost-table.ts';
import { measureCosts } from './cost/measure-costs.ts';
import { readCosts, whyNotCompared, writeCosts } from './cost/stored-costs.ts';
import { SystemCalls } from './cost/system-calls.ts';

const words = process.argv.slice(2);
if (words.some((word) => word !== '--write')) {
  console.error(`cost: ${words.join(' ')}: there is only --write`);
  process.exit(2);
}
const writes = words.includes('--write');
if (!SystemCalls.isPossible())
  console.error('cost: strace is missing or forbidden here: system calls are not counted by kind');
const measured = await measureCosts();
console.log(costsText(measured));
const table = readCosts();
if (writes) writeCosts(measured);
else if (table === undefined) console.error(`cost: ${whyNotCompared()}`);
else {
  const changes = changesOf(table, measured);
  if (changes.length > 0) {
    console.error(changesText(changes));
    process.exitCode = 1;
  }
}
