import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { end, head, JSON_TYPE, SSE, write } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway } from '../../kit/gateway-harness.ts';
import {
  lastToolResult,
  openToolGateway,
  PATHS,
  QUESTION,
  type ToolGateway,
  textOf,
} from './tool-gateway.ts';

let tools: ToolGateway;
beforeAll(async () => {
  tools = await openToolGateway({ tools: { image_generation: { model: 'm/image' } } });
});
beforeEach(() => tools.upstream.clear());
afterAll(() => tools.close());

const PNG = Buffer.from('\x89PNG\r\n\x1a\n not much of a picture', 'latin1').toString('base64');
const CALL = { name: 'image_generation', arguments: '{"prompt":"a boat"}', id: 'call_a' };
const TOOLS = { tools: [{ type: 'signalbox:image_generation', parameters: { aspect_ratio: '1:1' } }] };

/** An answer of a chat upstream with an image, streamed if it is asked for. */
function drawn(url: string): void {
  const images = [{ type: 'image_url', image_url: { url } }];
  const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 };
  tools.upstream.answer(({ json }) => {
    const choice = { index: 0, finish_reason: 'stop' };
    if (json?.stream !== true) {
      const message = { role: 'assistant', content: '', images };
      return [
        head(200, JSON_TYPE),
        write(JSON.stringify({ choices: [{ ...choice, message }], usage })),
        end(),
      ];
    }
    const chunk = { choices: [{ ...choice, delta: { role: 'assistant', content: '', images } }], usage };
    return [head(200, SSE), write(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`), end()];
  });
}

function legs(url = `data:image/png;base64,${PNG}`): void {
  tools.upstream.clear();
  tools.answers('m/chat', { tools: [CALL] });
  drawn(url);
  tools.answers('m/chat', { text: 'There it is.' });
}

/** The image of an answer. */
const imageOf: Record<(typeof PATHS)[number], (body: any) => string> = {
  '/chat/completions': ({ choices }) => choices[0].message.images[0].image_url.url,
  '/responses': ({ output }) => output[0].result,
  '/messages': ({ content }) => content[0].text,
};

describe('image_generation', () => {
  it.each(PATHS)('draws with the configured model on %s', async (path) => {
    legs();
    const { status, body } = await tools.ask(path, 'm/chat', TOOLS);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(textOf[path](body)).toContain('There it is.');
    const [, drawing] = tools.upstream.requests.map(({ json }) => json);
    expect(drawing).toMatchObject({
      modalities: ['image', 'text'],
      image_config: { aspect_ratio: '1:1' },
      messages: [{ role: 'user', content: 'a boat' }],
    });
    expect(lastToolResult(tools.upstream.requests[2])).toMatchObject({ status: 'ok' });
    expect(JSON.stringify(tools.upstream.requests[2]?.json)).not.toContain(PNG);
    expect(imageOf[path](body)).toContain(PNG);
  });

  it.each(PATHS)('shows the image in streams of %s', async (path) => {
    legs();
    const events = await tools.stream(path, 'm/chat', TOOLS);
    expect(JSON.stringify(events.map(({ data }) => data))).toContain(PNG);
  });

  it('sends earlier images back to no model as text', async () => {
    legs();
    const { body } = await tools.ask('/responses', 'm/chat', TOOLS);
    tools.upstream.clear();
    tools.answers('m/chat', { text: 'Yes.' });
    await tools.ask('/responses', 'm/chat', { input: [...body.output, { role: 'user', content: 'Nice?' }] });
    expect(JSON.stringify(tools.upstream.requests[0]?.json)).not.toContain(PNG);
    expect(JSON.stringify(tools.upstream.requests[0]?.json)).toContain('a boat');
  });

  it('gives the address of an image that has one', async () => {
    legs('https://images.example/boat.png');
    const { body } = await tools.ask('/responses', 'm/chat', TOOLS);
    expect(body.output[0]).toMatchObject({ imageUrl: 'https://images.example/boat.png' });
    expect(lastToolResult(tools.upstream.requests[2])).toEqual({
      status: 'ok',
      imageUrl: 'https://images.example/boat.png',
      note: 'The image is shown to the user.',
    });
  });

  it('runs the responses format’s own tool, with its items and events', async () => {
    legs();
    const events = await tools.stream('/responses', 'm/chat', {
      tools: [{ type: 'image_generation', size: '1024x1024', partial_images: 1 }],
    });
    const types = events.map(({ data }) => data.type);
    const steps = types.filter((type) => type?.includes('image_generation_call'));
    expect(steps).toEqual(
      ['in_progress', 'generating', 'completed'].map((step) => `response.image_generation_call.${step}`),
    );
    const added = events.find(({ data }) => data.type === 'response.output_item.added')?.data.item;
    expect(added).toMatchObject({ type: 'image_generation_call', status: 'in_progress', result: null });
    const done = events.find(({ data }) => data.type === 'response.output_item.done')?.data.item;
    expect(done).toMatchObject({ id: added.id, status: 'completed', result: PNG });
    expect(tools.upstream.requests[1]?.json.image_config).toEqual({ size: '1024x1024' });
  });

  it('draws with the simulator, in every format', async () => {
    const simulated = await openTestGateway();
    const tool = { type: 'signalbox:image_generation', parameters: { model: 'simulator/image' } };
    for (const path of PATHS) {
      const body = { ...QUESTION[path], model: 'simulator/tools', tools: [tool] };
      const response = await simulated.post(path, body);
      expect(imageOf[path](await response.json()), path).toMatch(/[A-Za-z0-9+/]{40}/);
    }
    await simulated.close();
  });

  it('tells the model if no image comes', async () => {
    tools.answers('m/chat', { tools: [CALL] }, { text: 'I cannot draw.' }, { text: 'Sorry.' });
    const { body } = await tools.ask('/responses', 'm/chat', TOOLS);
    expect(body.output[0]).toMatchObject({
      status: 'failed',
      error: 'the model wrote no image',
      result: null,
    });
  });

  it('is refused without an image model', async () => {
    const parameters = { model: 'm/other' };
    const tool = { ...TOOLS.tools[0], parameters };
    const { status, body } = await tools.ask('/responses', 'm/chat', { tools: [tool] });
    expect(status).toBe(400);
    expect(body.error.metadata.issues[0].path).toBe('tools[0].parameters.model');
    const none = await openToolGateway();
    for (const path of PATHS) {
      const refused = await none.ask(path, 'm/chat', TOOLS);
      expect(refused.status).toBe(400);
      expect(refused.body.error.metadata.issues[0].path).toBe('tools[0].type');
    }
    await none.close();
  });
});
