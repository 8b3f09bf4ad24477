import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../ir/errors.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { fillPromptTemplate, templateItemCount } from './prompt-template.ts';

const templates = {
  greet: { instructions: 'Speak {{language}}.', input: 'Greet {{ name }}.' },
  look: { input: 'Describe this:\n{{picture}}\nin one line.' },
  tone: { instructions: 'Be {{tone}}.' },
};

function errorOf(body: JsonObject): GatewayError {
  try {
    fillPromptTemplate(body, templates);
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('nothing was refused');
}

describe('fillPromptTemplate', () => {
  it('leaves a request without a prompt alone', () => {
    const body = { model: 'm', input: 'hi', prompt: null };
    expect(fillPromptTemplate(body, templates)).toBe(body);
  });

  it('fills in instructions and input, keeps the prompt and changes nothing of the original', () => {
    const body = { model: 'm', prompt: { id: 'greet', variables: { language: 'French', name: 'Ann' } } };
    const before = structuredClone(body);
    expect(fillPromptTemplate(body, templates)).toEqual({
      ...body,
      instructions: 'Speak French.',
      input: 'Greet Ann.',
    });
    expect(body).toEqual(before);
  });

  it('puts values in as plain text: no second round, no replacement patterns', () => {
    const variables = { language: '{{name}}', name: '$& {{language}}' };
    const filled = fillPromptTemplate({ prompt: { id: 'greet', variables } }, templates);
    expect(filled).toMatchObject({ instructions: 'Speak {{name}}.', input: 'Greet $& {{language}}.' });
  });

  it('puts the template before the request’s own input, and lets the request’s instructions win', () => {
    const variables = { language: 'x', name: { type: 'input_text', text: 'Bob' } };
    const body = { prompt: { id: 'greet', variables }, input: 'Now.', instructions: 'Mine.' };
    expect(fillPromptTemplate(body, templates)).toMatchObject({
      instructions: 'Mine.',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Greet Bob.' }] },
        { type: 'message', role: 'user', content: 'Now.' },
      ],
    });
  });

  it('makes a part of a variable that is no text', () => {
    const picture = { type: 'input_image', image_url: 'https://example.com/a.png' };
    const filled = fillPromptTemplate({ prompt: { id: 'look', variables: { picture } } }, templates);
    expect(filled.input).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Describe this:\n' },
          picture,
          { type: 'input_text', text: '\nin one line.' },
        ],
      },
    ]);
  });

  it('refuses unknown templates, missing variables and pictures in instructions', () => {
    expect(errorOf({ prompt: { id: 'nope' } })).toMatchObject({ status: 404 });
    expect(errorOf({ prompt: { id: 'toString' } })).toMatchObject({ status: 404 });
    expect(errorOf({ prompt: { id: 'tone', variables: { tune: 'x' } } })).toMatchObject({
      status: 422,
      message: 'prompt.variables.tone: is required by this prompt',
    });
    const picture = { type: 'input_image', image_url: 'https://example.com/a.png' };
    expect(errorOf({ prompt: { id: 'tone', variables: { tone: picture } } }).status).toBe(422);
  });

  it('counts the items that it put before the caller’s input', () => {
    const prompt = { id: 'greet', variables: { language: 'French', name: 'Ann' } };
    const own = { role: 'user', content: 'hi' };
    const filled = fillPromptTemplate({ prompt, input: [own] }, templates);
    expect(templateItemCount(filled)).toBe(1);
    expect(filled.input).toEqual([expect.objectContaining({ role: 'user' }), own]);
    expect(templateItemCount({ input: [own] })).toBe(0);
    expect(templateItemCount({ input: 'hi' })).toBe(0);
  });
});
