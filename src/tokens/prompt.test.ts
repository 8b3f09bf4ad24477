import { describe, expect, it } from 'vitest';
import { requestOf } from '../../test/kit/builders/request.ts';
import type { Item, Part, Source } from '../ir/items.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { Prompt } from './prompt.ts';

const promptOf = (changes: Partial<GenerationRequest>) => new Prompt(requestOf(changes));

const worst = (changes: Partial<GenerationRequest>) => {
  const { bytes, unseenTokens, imageSizes, documents } = promptOf(changes).worst;
  return { bytes, unseenTokens, imageSizes, documents };
};

const said = (...content: Part[]): Item => ({ type: 'message', role: 'user', content });

/** The worst case of a message with one part. */
const worstOf = (part: Part) => worst({ items: [said(part)] });

const NOTHING = worst({ items: [said()] });

describe('the worst prompt', () => {
  it('counts bytes and not characters: a tokenizer that does not know a script makes a token of each', () => {
    const runes = 'ᚠ'.repeat(1000);
    expect(worstOf({ type: 'text', text: runes }).bytes - NOTHING.bytes).toBe(3000);
    expect(worstOf({ type: 'refusal', refusal: '😀' }).bytes - NOTHING.bytes).toBe(4);
    expect(
      worst({ items: [{ type: 'tool-call', kind: 'function', callId: 'c', name: 'ᚠ', input: 'é' }] }).bytes,
    ).toBe(NOTHING.bytes + 5);
  });

  it('counts the digits of all text, and takes each byte of a very long one for a token', () => {
    const ofDigits = (count: number) => (count * 11) / 16;
    const extraTokens = (item: Item) => promptOf({ items: [item] }).extraTokens;
    expect(extraTokens(said({ type: 'text', text: 'on 2025-06-18 at 7' }))).toBe(ofDigits(9));
    const thought = { type: 'reasoning', text: ['12'], summary: ['3'] } as const;
    expect(extraTokens(thought)).toBe(ofDigits(3));
    expect(extraTokens(said({ type: 'text', text: 'x'.repeat(1_000_001) }))).toBe(1_000_001);
  });

  it.each<[string, Item]>([
    ['the signature of a thought', { type: 'reasoning', text: [], summary: [], signature: 's'.repeat(4000) }],
    ['an encrypted thought', { type: 'reasoning', text: [], summary: [], encrypted: 's'.repeat(4000) }],
    [
      'both',
      { type: 'reasoning', text: [], summary: [], signature: 's'.repeat(1000), encrypted: 's'.repeat(3000) },
    ],
    [
      'the signature of a call',
      { type: 'tool-call', kind: 'function', callId: 'c', name: '', input: '', signature: 's'.repeat(4000) },
    ],
  ])('counts %s, which an upstream may open', (_, item) => {
    const { unseenTokens, bytes } = worst({ items: [item] });
    expect(unseenTokens).toBe(1000);
    expect(bytes).toBe(NOTHING.bytes + 1000);
  });

  describe('counts what we do not model by its bytes', () => {
    const member = { note: 'ᚠ'.repeat(100) };
    const bytes = Buffer.byteLength(JSON.stringify(member));

    it.each<[string, Partial<GenerationRequest>]>([
      ['a field of the body', { body: { extra: member }, unknownFields: ['extra'] }],
      ['an extension of the request', { ext: { chat: member } }],
      ['an extension of an item', { items: [{ ...said(), ext: member } as Item] }],
      ['an extension of a part', { items: [said({ type: 'text', text: '', ext: member } as Part)] }],
    ])('%s', (_, changes) => {
      expect(worst({ items: [said()], ...changes })).toEqual({
        ...NOTHING,
        unseenTokens: bytes,
        bytes: NOTHING.bytes + bytes,
      });
    });

    it('but not a field that is no object', () => {
      expect(worst({ items: [said()], body: { extra: 'text' }, unknownFields: ['extra'] })).toEqual(NOTHING);
    });

    it.each([
      { document_url: 'x' },
      { deep: [{ file_id: 'file-1' }] },
      { anything: 'https://a.example/b.pdf' },
      { anything: 'data:text/plain,x' },
      { source: { media_type: 'application/pdf' } },
      { data: Buffer.from('%PDF-1.7').toString('base64') },
    ])('and as a document where it names one: %j', (extra) => {
      expect(worst({ body: { extra }, unknownFields: ['extra'] }).documents).toBe(1);
    });
  });

  it.each(['mcp_servers', 'container'])('may hold anything where the body has %s', (name) => {
    expect(worst({ body: { [name]: [{}] } }).documents).toBe(1);
    expect(worst({ body: { [name]: null } }).documents).toBe(0);
    expect(worst({ body: { [name]: 'container_1' } }).documents).toBe(0);
  });

  it.each([
    ['web_fetch_20250910', 1],
    ['mcp', 1],
    ['file_search', 1],
    ['code_interpreter', 1],
    ['code_execution_20250825', 1],
    ['web_search_20250305', 0],
    ['image_generation', 0],
  ])('with the hosted tool %s has %i documents', (kind, documents) => {
    const value = { type: kind };
    expect(worst({ tools: [{ type: 'hosted', dialect: 'messages', kind, value }] }).documents).toBe(
      documents,
    );
  });

  describe('with a file', () => {
    const file = (source: Source) => worstOf({ type: 'file', source } as Part);
    const base64 = (mediaType: string, content: string | Buffer) =>
      file({ kind: 'base64', mediaType, data: Buffer.from(content).toString('base64') });

    it.each(['text/plain', 'TEXT/CSV', 'application/json', 'application/yaml'])(
      'of %s counts its bytes',
      (mediaType) => {
        expect(base64(mediaType, 'ᚠ'.repeat(300))).toEqual({ ...NOTHING, bytes: NOTHING.bytes + 900 });
      },
    );

    it.each(['text/pdf', 'TEXT/PDF', 'application/pdf', 'application/octet-stream', 'image/svg+xml'])(
      'of %s may hold any number of pages',
      (mediaType) => {
        expect(base64(mediaType, 'hello')).toEqual({ ...NOTHING, documents: 1 });
      },
    );

    it.each([
      ['PDF', Buffer.from('%PDF-1.4 tiny')],
      ['ZIP', Buffer.from('PK\u0003\u0004\u0014\u0000')],
      ['gzip', Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0x00])],
    ])('that is a %s and is called text may, too', (_, content) => {
      expect(base64('text/plain', content)).toEqual({ ...NOTHING, documents: 1 });
    });
  });
});
