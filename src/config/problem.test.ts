import { afterEach, describe, expect, it, vi } from 'vitest';
import { problemText } from './problem.ts';

describe('problemText', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each([
    ['/etc/signalbox', 'signalbox.yaml'],
    ['/etc', 'signalbox/signalbox.yaml'],
    ['/', '/etc/signalbox/signalbox.yaml'],
    ['/srv', '/etc/signalbox/signalbox.yaml'],
  ])('names the file as seen from %s', (directory, shown) => {
    vi.spyOn(process, 'cwd').mockReturnValue(directory);
    const problem = {
      path: 'server.port',
      message: 'is too large',
      place: { line: 4, column: 14, width: 5 },
    };
    expect(problemText(problem, '/etc/signalbox/signalbox.yaml')).toContain(`--> ${shown}:4:14`);
  });
});
