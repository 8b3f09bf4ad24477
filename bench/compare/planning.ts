import { join } from 'node:path';
import type { Row, Scenario } from './scenario.ts';

/** What planning alone costs: the figures of `npm run bench -- plan`. */
export const planning: Scenario = {
  name: 'planning',
  title: 'planning only, 300 models with 1,000 endpoints (npm run bench -- plan)',
  async run({ workbench, built }) {
    const started = workbench.start('plan', [process.execPath, join(built, 'plan.js')], {
      place: 'tested',
      readsLines: true,
    });
    const rows: Row[] = [];
    for (let line = await started.lines.next(); !line.done; line = await started.lines.next()) {
      const [, micros, name] = /^\s*([\d.]+) µs {2}(.+)$/.exec(line.value) ?? [];
      if (name !== undefined) rows.push({ name, values: { planning: [Number(micros)] } });
    }
    return rows;
  },
};
