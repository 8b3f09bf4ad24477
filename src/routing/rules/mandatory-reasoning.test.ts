import { describe, expect, it } from 'vitest';
import { modelOf } from '../../../test/kit/builders/catalog.ts';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { refuseReasoningOff } from './mandatory-reasoning.ts';

const thinker = modelOf({
  id: 'acme/thinker',
  reasoning: { mandatory: true, supportedEfforts: ['minimal', 'high'] },
});
const other = modelOf({ id: 'acme/other', reasoning: { mandatory: false } });
const unknown = modelOf({ id: 'acme/unknown' });

const off: Partial<GenerationRequest> = {
  reasoning: { effort: 'none' },
  body: { reasoning: { effort: 'none' } },
};
const refused = (changes: Partial<GenerationRequest>, ...named: Parameters<typeof refuseReasoningOff>[1]) =>
  refuseReasoningOff(requestOf(changes), named);

describe('refuseReasoningOff', () => {
  it('refuses with the path and the model when no other is left', () => {
    expect(() => refused(off, { name: 'acme/thinker', model: thinker })).toThrow(
      'reasoning.effort: acme/thinker always thinks and cannot be told not to; its least effort is minimal',
    );
    const disabled = { reasoning: { enabled: false }, body: { reasoning: { enabled: false } } };
    expect(() => refused(disabled, { name: 'thinker', model: thinker })).toThrow('reasoning.enabled: acme/');
  });

  it('leaves the model out, with the reason, when others are left', () => {
    const named = [thinker, other, unknown].map((model) => ({ name: model.id, model }));
    const { models, rejected } = refused(off, ...named);
    expect(models.map(({ model }) => model)).toEqual([other, unknown]);
    expect(rejected).toEqual([
      {
        endpoint: thinker.endpoints[0],
        filter: 'reasoning',
        reason: expect.stringContaining('acme/thinker always thinks'),
      },
    ]);
  });

  it.each<[string, Partial<GenerationRequest>, string]>([
    ['the newest of a family', off, '~acme/thinker-latest'],
    ['any effort', { reasoning: { effort: 'minimal' } }, 'acme/thinker'],
    ['no settings', {}, 'acme/thinker'],
    [
      'the messages format, in which off is the default',
      { format: 'messages', reasoning: { enabled: false } },
      'acme/thinker',
    ],
  ])('lets pass: %s', (_, changes, name) => {
    expect(refused(changes, { name, model: thinker })).toEqual({
      models: [{ name, model: thinker }],
      rejected: [],
    });
  });
});
