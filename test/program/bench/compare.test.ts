import { describe, expect, it } from 'vitest';
import { FORMATS, LANES } from '../../../bench/compare/lanes.ts';
import { parseOptions } from '../../../bench/compare/options.ts';
import { requestBody } from '../../../bench/compare/request-body.ts';
import { paired, spreadOf } from '../../../bench/compare/spread.ts';
import { outcomesOf, ratio, type Target } from '../../../bench/compare/targets.ts';

describe('the options of the benchmark', () => {
  it('have defaults', () => {
    expect(parseOptions([], ['burst'])).toEqual({ rounds: 3, seconds: 1, peers: 'all' });
  });

  it('are read', () => {
    const words = [
      '--rounds',
      '5',
      '--seconds',
      '0.5',
      '--only',
      'burst',
      '--peers',
      'none',
      '--json',
      'a.json',
    ];
    expect(parseOptions(words, ['burst'])).toEqual({
      rounds: 5,
      seconds: 0.5,
      only: 'burst',
      peers: 'none',
      json: 'a.json',
    });
  });

  it.each([
    [['--only', 'nothing'], 'there is no such scenario; there are burst'],
    [['--rounds', 'many'], '--rounds many: must be a whole number'],
    [['--seconds', '0'], '--seconds 0: must be a number'],
    [['--peers', 'some'], '--peers some: must be none, nginx or all'],
    [['--fast'], '--fast'],
  ])('%j is refused', (words, problem) => {
    expect(() => parseOptions(words, ['burst'])).toThrow(problem);
  });
});

describe('the spread of rounds', () => {
  it('is a median between the least and the most', () => {
    expect(spreadOf([9, 1, 4])).toEqual({ median: 4, least: 1, most: 9 });
    expect(spreadOf([4, 1, 9, 6])).toEqual({ median: 5, least: 1, most: 9 });
  });

  it('pairs round with round', () => {
    expect(paired([2, 40], [1, 10], (left, right) => left / right)).toEqual({ median: 3, least: 2, most: 4 });
  });
});

describe('targets', () => {
  const target: Target = {
    title: 'cost',
    unit: 'x',
    bound: 8,
    aim: 5,
    better: 'lower',
    figure: ratio('whole', 'requestCost', 'relay', 'nginx'),
  };
  const results = (relay: number[]) => [
    {
      name: 'whole',
      title: '',
      rows: [
        { name: 'relay', values: { requestCost: relay } },
        { name: 'nginx', values: { requestCost: [10, 10, 10] } },
      ],
    },
  ];

  it.each([
    [[40, 50, 90], 'aim reached'],
    [[50, 70, 90], 'reached'],
    [[50, 90, 95], 'missed'],
  ])('with rounds of %j the target is %s', (relay, verdict) => {
    expect(outcomesOf([target], results(relay))).toMatchObject([{ title: 'cost', verdict }]);
  });

  it('say nothing about what was not measured', () => {
    expect(outcomesOf([target], [])).toEqual([]);
  });

  it('may be a least instead of a most', () => {
    expect(outcomesOf([{ ...target, better: 'higher' }], results([70, 70, 70]))).toMatchObject([
      { verdict: 'aim reached' },
    ]);
  });
});

describe('the requests of the benchmark', () => {
  const cases = Object.values(LANES).flatMap((lane) => [2000, 200_000].map((bytes) => ({ lane, bytes })));

  it.each(cases)('in $lane.format are about $bytes bytes', ({ lane, bytes }) => {
    const body = requestBody(lane, 'bench/model', 'burst', bytes);
    expect(Math.abs(body.length - bytes) / bytes).toBeLessThan(0.25);
    expect(JSON.parse(body)).toMatchObject({ model: 'bench/model', stream: true });
    expect(FORMATS[lane.format].event.length).toBeLessThan(64);
  });
});
