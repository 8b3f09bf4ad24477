import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ScenarioResult } from './scenario.ts';
import { burst, keyCounts, modelCounts, validation, whole2k } from './scenarios.ts';
import { outcomesOf, ratio, type Target, validationShare } from './targets.ts';
import { outcomesText, scenarioText } from './text-report.ts';
import { withStage } from './with-stage.ts';

/**
 * `npm run bench:guard`: fails if something has become much more expensive. Every figure compares two things measured
 * in turn in one run, and every bound leaves room, so that it says something about the code and not about the
 * machine.
 */
const ROUNDS = 3;
const SECONDS = 1;

const guard = (title: string, bound: number, figure: Target['figure']): Target => ({
  title,
  unit: 'x',
  bound,
  aim: bound,
  better: 'lower',
  figure,
});

const GUARDS: readonly Target[] = [
  guard(
    'messages to chat, CPU an event against relay',
    3,
    ratio('burst', 'eventCost', 'messages to chat', 'relay'),
  ),
  guard(
    'responses to messages, CPU an event against relay',
    3,
    ratio('burst', 'eventCost', 'responses to messages', 'relay'),
  ),
  guard(
    'relay, CPU a request against a bare proxy',
    5,
    ratio('whole-2k', 'requestCost', 'relay', 'bare proxy'),
  ),
  guard('validation against JSON.parse', 0.5, validationShare),
  guard('CPU a request, 10,000 keys against 1', 2, ratio('keys', 'requestCost', '10,000 keys', '1 key')),
  guard(
    'CPU a request, 5,000 models against 10',
    1.5,
    ratio('models', 'requestCost', '5,000 models', '10 models'),
  ),
];

const built = dirname(fileURLToPath(import.meta.url));
await withStage(built, { rounds: ROUNDS, seconds: SECONDS, peers: 'none' }, async (stage) => {
  const results: ScenarioResult[] = [];
  for (const scenario of [whole2k, burst, keyCounts, modelCounts, validation]) {
    const result = { name: scenario.name, title: scenario.title, rows: await scenario.run(stage) };
    results.push(result);
    console.log(scenarioText(result));
  }
  const outcomes = outcomesOf(GUARDS, results);
  console.log(outcomesText(outcomes));
  const missed = outcomes.filter(({ verdict }) => verdict === 'missed');
  for (const { title, reached, bound } of missed)
    console.error(`bench:guard: ${title}: ${reached.median.toFixed(2)}x is above ${bound}x`);
  if (missed.length > 0 || outcomes.length < GUARDS.length) process.exitCode = 1;
});
