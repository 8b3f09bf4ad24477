import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { compiled } from './program.ts';

/** A start that fails right after it has begun to listen, with nothing left that would keep the process alive. */
const STOPS = `
  import { createServer } from 'node:net';
  import { MoreDoors } from ${JSON.stringify(compiled('http1/server/more-doors.js'))};
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const doors = new MoreDoors(server, 3, () => {});
  await new Promise((resolve) => setTimeout(resolve, 10));
  const gone = doors.stop();
  await new Promise((resolve) => server.close(resolve));
  await gone;
  process.stdout.write('stopped');
`;

it('a start that fails early gets to say why', () => {
  // Which of two things ends first is chance: five times, so that the wrong one is among them.
  for (let time = 0; time < 5; time++) {
    const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', STOPS], {
      encoding: 'utf8',
      timeout: 15_000,
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'stopped' });
  }
});
