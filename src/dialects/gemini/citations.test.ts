import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kit/json/json.ts';
import { Citations } from './citations.ts';

function grounded(chunks: readonly JsonObject[], supports: readonly JsonObject[]): JsonObject {
  return {
    groundingMetadata: {
      groundingChunks: chunks.map((web) => ({ web })),
      groundingSupports: [...supports],
    },
  };
}

function support(startIndex: number, endIndex: number, ...places: number[]): JsonObject {
  return { segment: { startIndex, endIndex }, groundingChunkIndices: places };
}

describe('sources of a text', () => {
  it('are emitted once each, with places in characters', () => {
    const citations = new Citations();
    const chunks = [{ uri: 'http://a', title: 'A' }, { uri: 'http://b' }];
    citations.read(grounded(chunks, [support(0, 7, 0, 0, 1), support(0, 7, 0), support(7, 11, 1)]));
    citations.read({ citationMetadata: { citationSources: [{ uri: 'http://c', endIndex: 2 }] } });
    expect(citations.take('Grüße 😀')).toEqual([
      { type: 'url-citation', url: 'http://a', title: 'A', startIndex: 0, endIndex: 5 },
      { type: 'url-citation', url: 'http://b', startIndex: 0, endIndex: 5 },
      { type: 'url-citation', url: 'http://b', startIndex: 5, endIndex: 6 },
      { type: 'url-citation', url: 'http://c', startIndex: 0, endIndex: 2 },
    ]);
    expect(citations.take('more')).toEqual([]);
  });

  it('are limited in number', () => {
    const citations = new Citations();
    const many = Array.from({ length: 1500 }, (_, index) => support(index, index + 1, 0));
    citations.read(grounded([{ uri: 'http://a' }], many.slice(0, 600)));
    expect(citations.take('x'.repeat(2000))).toHaveLength(600);
    citations.read(grounded([{ uri: 'http://a' }], many));
    expect(citations.take('x'.repeat(2000))).toHaveLength(400);
    citations.read({ citationMetadata: { citations: [{ uri: 'http://b' }] } });
    expect(citations.take('x')).toEqual([]);
  });

  it('do not multiply a long address', () => {
    const citations = new Citations();
    const uri = `http://e/${'x'.repeat(200_000)}`;
    const supports = Array.from({ length: 30_000 }, (_, index) => support(0, index, 0));
    const before = process.cpuUsage();
    citations.read(grounded([{ uri }, { uri: 'http://short' }], [...supports, support(0, 1, 1)]));
    const written = citations.take('x'.repeat(1000)).map((annotation) => JSON.stringify(annotation));
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000);
    expect(written.join('').length).toBeLessThan(1_100_000);
    expect(written.at(-1)).toContain('http://short');
  });

  it('are bounded while they are collected', () => {
    const citations = new Citations();
    const uri = `http://e/${'x'.repeat(400_000)}`;
    for (const place of Array(100).keys()) {
      citations.read({ citationMetadata: { citations: [{ uri: uri + place }] } });
    }
    expect(citations.take('')).toHaveLength(2);
  });
});
