import { describe, expect, it } from 'vitest';
import { classifierOf } from '../../test/kit/builders/classifiers.ts';
import { DIALECTS } from '../dialects/dialects.ts';
import { writePassedAnswers } from '../dialects/shared/decisions/answers.ts';
import type { DecisionForm, DecisionSettings } from '../ir/decision.ts';
import type { OutputItem } from '../ir/items.ts';
import { NOTHING_FITS } from '../ports/following/classifiers.ts';
import { decisionBody } from './questions.ts';
import { readVerdict } from './verdict.ts';

const classifier = classifierOf();

function decisionOf(form: DecisionForm): DecisionSettings {
  const body = decisionBody(classifier, 'USER: Hi', form);
  const { decision } = DIALECTS.decisions.inbound.parseRequest(body, { vendor: 'signalbox' });
  if (decision === undefined) throw new Error('no decision');
  return decision;
}

const saying = (text: string): OutputItem[] => [
  { type: 'message', role: 'assistant', content: [{ type: 'text', text }], status: 'completed' },
];

const verdictOf = (text: string, form: DecisionForm = 'openai') =>
  readVerdict(classifier, decisionOf(form), { items: saying(text) });

const answered = (topic: unknown, mood: unknown) =>
  JSON.stringify({ q1: { choice: topic, confidence: 1 }, q2: { choice: mood, confidence: 0.5 } });

describe('decisionBody', () => {
  it('asks for one value of each dimension, or none of them', () => {
    expect(decisionOf('openai').questions).toEqual(decisionOf('system-one').questions);
    expect(
      decisionOf('openai').questions.map(({ name, options }) => [name, options.map(({ value }) => value)]),
    ).toEqual([
      ['topic', ['billing', 'returns', NOTHING_FITS]],
      ['mood', ['calm', 'angry', NOTHING_FITS]],
    ]);
  });

  it('says what the classifier and its values mean, and marks the transcript as content', () => {
    const body = decisionBody({ ...classifier, description: 'A shop' }, 'USER: Hi', 'openai');
    const request = DIALECTS.decisions.inbound.parseRequest(body, { vendor: 'signalbox' });
    const texts = JSON.stringify(request.items);
    for (const part of [
      'Topics: A shop',
      'What the conversation is about',
      'Invoices and refunds',
      '<content>',
    ])
      expect(texts).toContain(part);
  });
});

describe('readVerdict', () => {
  it('reads what a model has written', () => {
    expect(verdictOf(answered('billing', 'angry'))).toEqual({
      tags: { topic: 'billing', mood: 'angry' },
      problem: null,
    });
    expect(verdictOf(`Sure!\n\`\`\`json\n${answered('returns', NOTHING_FITS)}\n\`\`\``)).toEqual({
      tags: { topic: 'returns' },
      problem: null,
    });
  });

  it.each([
    [
      'openai',
      [
        { type: 'choice', name: 'topic', choice: 'billing' },
        { type: 'choice', choice: 'calm' },
      ],
    ],
    [
      'system-one',
      { mood: { type: 'choice', choice: 'calm' }, topic: { type: 'choice', choice: 'billing' } },
    ],
  ] as const)('reads answers of a model for decisions in the form of %s', (form, answers) => {
    expect(verdictOf(writePassedAnswers(answers as never), form)).toEqual({
      tags: { topic: 'billing', mood: 'calm' },
      problem: null,
    });
  });

  it.each([
    ['nonsense', 'I cannot say.', {}, 'topic, mood'],
    ['nothing', '', {}, 'topic, mood'],
    ['another value', answered('weather', 'calm'), { mood: 'calm' }, 'topic'],
    ['no text', answered(7, ['calm']), {}, 'topic, mood'],
    ['another shape', '[1,2]', {}, 'topic, mood'],
    ['a prototype', '{"__proto__":{"q1":{"choice":"billing","confidence":1}}}', {}, 'topic, mood'],
    ['passed nonsense', '{"answers":7}', {}, 'topic, mood'],
    [
      'a passed other value',
      '{"answers":[{"choice":"weather"},{"choice":"calm"}]}',
      { mood: 'calm' },
      'topic',
    ],
  ])('gives no tag for %s, and says so', (_, text, tags, names) => {
    expect(verdictOf(text)).toEqual({ tags, problem: `the model gave no usable answer for ${names}` });
  });

  it('says that the model refused', () => {
    const items: OutputItem[] = [
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'refusal', refusal: 'No.' }],
        status: 'completed',
      },
    ];
    expect(readVerdict(classifier, decisionOf('openai'), { items })).toEqual({
      tags: {},
      problem: 'the model refused to answer',
    });
  });
});
