import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lastToolResult, openToolGateway, type ToolGateway, textOf } from './tool-gateway.ts';

let tools: ToolGateway;
beforeAll(async () => {
  tools = await openToolGateway();
});
beforeEach(() => tools.upstream.clear());
afterAll(() => tools.close());

const TOOLS = { tools: [{ type: 'signalbox:files' }] };

const call = (input: object) => ({ name: 'files', arguments: JSON.stringify(input), id: 'call_a' });

/** Runs one operation; returns the item and what the model was told. */
async function run(input: object): Promise<{ item: any; told: any }> {
  tools.upstream.clear();
  tools.answers('m/chat', { tools: [call(input)] }, { text: 'Done.' });
  const { status, body } = await tools.ask('/responses', 'm/chat', TOOLS);
  expect(status, JSON.stringify(body)).toBe(200);
  return { item: body.output[0], told: lastToolResult(tools.upstream.requests[1]) };
}

async function contentOf(id: string): Promise<string> {
  return (await tools.gateway.fetch(`/files/${id}/content`)).text();
}

describe('files', () => {
  it('writes, lists, reads and edits files of the workspace', async () => {
    const written = await run({ operation: 'write', filename: 'plan.md', content: '# Plan\n\nGo north.\n' });
    expect(written.item).toMatchObject({ type: 'signalbox:files', status: 'completed', filename: 'plan.md' });
    const id = written.told.result.file_id;
    expect(await contentOf(id)).toBe('# Plan\n\nGo north.\n');

    const listed = await run({ operation: 'list' });
    expect(listed.told.result.files).toMatchObject([{ file_id: id, mime_type: 'text/markdown' }]);

    const read = await run({ operation: 'read', file_id: id });
    expect(read.told.result.content).toBe('# Plan\n\nGo north.\n');
    expect(JSON.parse(read.item.result)).toEqual(read.told.result);

    const changed = await run({ operation: 'edit', file_id: id, old: 'north', new: 'south' });
    expect(changed.told.result).toMatchObject({ filename: 'plan.md' });
    expect(changed.told.result.file_id).not.toBe(id);
    expect(await contentOf(changed.told.result.file_id)).toBe('# Plan\n\nGo south.\n');
    expect(await contentOf(id)).toBe('# Plan\n\nGo north.\n');
  });

  it('reads uploads', async () => {
    const form = new FormData();
    form.append('file', new Blob(['uploaded words']), 'a.txt');
    const upload = await tools.gateway.fetch('/files', { method: 'POST', body: form });
    const { id } = (await upload.json()) as { id: string };
    expect((await run({ operation: 'read', file_id: id })).told.result.content).toBe('uploaded words');
    const png = new FormData();
    png.append('file', new Blob([Buffer.from('\x89PNG\r\n\x1a\n\0\0\xff', 'latin1')]), 'a.png');
    const second = await tools.gateway.fetch('/files', { method: 'POST', body: png });
    const picture = (await second.json()) as { id: string };
    const { told } = await run({ operation: 'read', file_id: picture.id });
    expect(told).toMatchObject({ status: 'error', error: 'the file is no text' });
  });

  it.each([
    [{ operation: 'read' }, /needs file_id/],
    [{ operation: 'read', file_id: 'file_none' }, /not found/i],
    [{ operation: 'write', filename: '', content: 'x' }, /filename/],
    [{ operation: 'write', filename: 'a', content: '' }, /empty/],
    [{ operation: 'burn' }, /schema/],
  ])('tells the model why %j fails', async (input, expected) => {
    const { item, told } = await run(input);
    expect(item.status).toBe('failed');
    expect(told.error).toMatch(expected);
  });

  it('edits only what is named without doubt', async () => {
    const { told } = await run({ operation: 'write', filename: 'a.txt', content: 'one one two' });
    const file_id = told.result.file_id;
    for (const [old, expected] of [
      ['one', /more than once/],
      ['three', /does not occur/],
      ['', /does not occur/],
    ] as const) {
      expect((await run({ operation: 'edit', file_id, old, new: 'x' })).told.error).toMatch(expected);
    }
  });

  it('works in a streamed chat, and refuses parameters', async () => {
    tools.answers('m/chat', { tools: [call({ operation: 'list' })] }, { text: 'Done.' });
    const events = await tools.stream('/chat/completions', 'm/chat', TOOLS);
    expect(events.map(({ data }) => data.choices?.[0]?.delta.content ?? '').join('')).toBe('Done.');
    tools.upstream.clear();
    tools.answers('m/messages', { tools: [call({ operation: 'list' })] }, { text: 'Done.' });
    const { body } = await tools.ask('/messages', 'm/messages', TOOLS);
    expect(textOf['/messages'](body), JSON.stringify(body)).toBe('Done.');
    const refused = await tools.ask('/responses', 'm/chat', {
      tools: [{ type: 'signalbox:files', parameters: { a: 1 } }],
    });
    expect(refused.status).toBe(400);
  });
});
