import { expect, it } from 'vitest';
import { eventsAround, pluginRequestOf, stageContextOf } from '../../../../test/kit/builders/stage.ts';
import { Fold } from '../../../ir/folding/fold.ts';
import { unfold } from '../../../ir/folding/unfold.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import { RESPONSE_HEALING, responseHealingStage } from './response-healing-stage.ts';

const plugin = { id: RESPONSE_HEALING };
const asked = (changes: Partial<GenerationRequest> = {}) =>
  pluginRequestOf(plugin, { stream: false, outputFormat: { type: 'json' }, ...changes });

async function healed(text: string) {
  const { context, notes } = stageContextOf();
  const leg = unfold({
    items: [{ type: 'message', role: 'assistant', content: [{ type: 'text', text }] }],
    finish: { type: 'finish', reason: 'stop' },
  });
  const fold = new Fold();
  fold.pushAll(await eventsAround(responseHealingStage, asked(), leg, context));
  return { items: fold.result().items, notes };
}

it('is active for whole answers that should be JSON, and reports other requests', () => {
  const { context } = stageContextOf();
  const isActive = (request: GenerationRequest) => responseHealingStage.isActive(request, context);
  expect(isActive(asked())).toBe(true);
  expect(isActive(asked({ wishes: { provider: {}, plugins: [] } }))).toBe(false);
  expect(responseHealingStage.unmetWish?.(asked())).toBeUndefined();
  for (const request of [asked({ stream: true }), asked({ outputFormat: { type: 'text' } })]) {
    expect(isActive(request)).toBe(false);
    expect(responseHealingStage.unmetWish?.(request)).toMatchObject({
      field: 'plugins[0]',
      action: 'dropped',
    });
  }
});

it('replaces the text of an answer and adds a note', async () => {
  const { items, notes } = await healed('Here: {a: 1,}');
  expect(items).toMatchObject([{ content: [{ type: 'text', text: '{"a": 1}' }] }]);
  expect(notes).toMatchObject([{ name: RESPONSE_HEALING, data: { improved: true } }]);
});

it('leaves an answer alone that is JSON', async () => {
  const { items, notes } = await healed('{"a":1}');
  expect(items).toMatchObject([{ content: [{ type: 'text', text: '{"a":1}' }] }]);
  expect(notes).toEqual([]);
});
