import { closeSync, openSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BenchOptions, parseOptions, USAGE } from './options.ts';
import type { ScenarioResult } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import { outcomesOf, TARGETS } from './targets.ts';
import { outcomesText, scenarioText } from './text-report.ts';
import { withStage } from './with-stage.ts';

/** `npm run bench`: the gateway beside its upstream and its peers. docs/performance.md explains the figures. */
const built = dirname(fileURLToPath(import.meta.url));

function optionsOrUsage(): BenchOptions {
  try {
    const read = parseOptions(
      process.argv.slice(2),
      SCENARIOS.map(({ name }) => name),
    );
    // Fails now, not after a quarter of an hour, if the file cannot be written.
    if (read.json !== undefined) closeSync(openSync(read.json, 'a'));
    return read;
  } catch (problem) {
    console.error(`bench: ${problem instanceof Error ? problem.message : problem}\n${USAGE}`);
    process.exit(2);
  }
}

if (process.argv.includes('--help')) {
  console.log(`${USAGE}\nscenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}`);
  process.exit(0);
}
const options = optionsOrUsage();
await withStage(built, options, async (stage, conditions) => {
  for (const [name, value] of Object.entries(conditions)) console.log(`${name}: ${value}`);
  const results: ScenarioResult[] = [];
  for (const scenario of SCENARIOS) {
    if (options.only !== undefined && scenario.name !== options.only) continue;
    const rows = await scenario.run(stage).catch((problem: Error) => {
      const why = stage.workbench.isClosing ? 'was interrupted' : `is left out: ${problem.message}`;
      console.error(`\nbench: ${scenario.name} ${why}`);
      process.exitCode = 1;
      return undefined;
    });
    if (stage.workbench.isClosing) return;
    if (rows === undefined) continue;
    const result = { name: scenario.name, title: scenario.title, rows };
    results.push(result);
    console.log(`\n${scenarioText(result)}`);
  }
  const peers = await stage.cast.peers();
  console.log(`\npeers: ${peers.join(', ') || 'none'}`);
  const outcomes = outcomesOf(TARGETS, results);
  if (outcomes.length > 0) console.log(`\n${outcomesText(outcomes)}`);
  if (options.json !== undefined)
    writeFileSync(
      options.json,
      `${JSON.stringify({ conditions, peers, options, results, outcomes }, null, 2)}\n`,
    );
});
