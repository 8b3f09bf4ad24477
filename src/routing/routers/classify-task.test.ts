import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { needsOf } from '../rules/needs.ts';
import { classifyTask, type TaskType } from './classify-task.ts';

function asking(text: string, changes: Partial<GenerationRequest> = {}): GenerationRequest {
  return requestOf({
    items: [{ type: 'message', role: 'user', content: [{ type: 'text', text }] }],
    ...changes,
  });
}

function taskOf(request: GenerationRequest) {
  return classifyTask(request, needsOf(request));
}

const image = { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } } as const;
const weather = { type: 'function', name: 'get_weather' } as const;
const bash = { type: 'function', name: 'Bash' } as const;

describe('classifyTask', () => {
  const cases: [string, GenerationRequest, TaskType][] = [
    ['a question', asking('What is the capital of France?'), 'general'],
    ['one word about code', asking('What is Python named after?'), 'general'],
    ['a code block', asking('What does this do?\n```\nx = 1\n```'), 'coding'],
    ['a bare declaration', asking('def area(r):\n    return 3.14 * r * r'), 'coding'],
    ['a patch', asking('Review:\n--- a/x\n+++ b/x\n@@ -1 +1 @@'), 'coding'],
    ['a trace', asking('Why?\nTypeError: x is undefined'), 'coding'],
    ['a prose sentence with let', asking('Please let me know what you think of it.'), 'general'],
    ['tools', asking('How warm is it?', { tools: [weather] }), 'tool_use'],
    ['tools of an agent that codes', asking('Go on.', { tools: [weather, bash] }), 'coding'],
    ['reasoning asked for', asking('Hm.', { reasoning: { effort: 'high' } }), 'reasoning'],
    ['little reasoning asked for', asking('Hm.', { reasoning: { effort: 'low' } }), 'general'],
    ['no reasoning asked for', asking('Hm.', { reasoning: { enabled: false } }), 'general'],
    ['a proof, step by step', asking('Prove the theorem step by step.'), 'reasoning'],
    ['another script', asking('Какая столица Франции?'), 'multilingual'],
    ['another script with a foreign word', asking('請介紹一下 Signalbox 這個專案的歷史'), 'multilingual'],
    ['accents', asking('Où est la bibliothèque, s’il vous plaît ? Ça m’intéresse énormément.'), 'general'],
    ['a long prompt', asking('word '.repeat(50_000)), 'long_context'],
    ['an image', requestOf({ items: [{ type: 'message', role: 'user', content: [image] }] }), 'multimodal'],
    ['nothing at all', requestOf({ items: [] }), 'general'],
  ];
  it.each(cases)('%s', (_, request, type) => {
    expect(taskOf(request).type).toBe(type);
  });

  it('counts the coding score for code and the general one for the rest', () => {
    expect(taskOf(asking('```')).quality).toBe('coding');
    expect(taskOf(asking('Hello')).quality).toBe('general');
  });

  it('looks at the latest texts of a long conversation', () => {
    const says = (text: string) =>
      ({ type: 'message', role: 'user', content: [{ type: 'text', text }] }) as const;
    const items = [...Array.from({ length: 500 }, () => says('Hello')), says('```js\nlet a = 1\n```')];
    expect(taskOf(requestOf({ items })).type).toBe('coding');
  });

  it('takes no long time for texts that make expressions try everything', () => {
    const texts = [
      '\n',
      ' ',
      'a',
      'at ',
      '\nfrom aaaaaaaaaaaaaaaaaaaaaaaaaa',
      '\nexport async ',
      '你好',
      'Error',
    ];
    for (const text of texts) {
      const request = asking(text.repeat(1_000_000 / text.length));
      const times = Array.from({ length: 10 }, () => {
        const started = performance.now();
        taskOf(request);
        return performance.now() - started;
      });
      expect(Math.min(...times)).toBeLessThan(20);
    }
  });
});
