import { describe, expect, it } from 'vitest';
import { DomainList, domainProblem } from './domains.ts';

const has = (pattern: string, url: string) => new DomainList([pattern]).has(new URL(url));

describe('DomainList', () => {
  it.each([
    ['example.com', 'https://example.com/'],
    ['example.com', 'https://www.example.com/a'],
    ['EXAMPLE.com.', 'https://example.com./a'],
    ['https://example.com', 'http://example.com/'],
    ['*.example.com', 'https://a.b.example.com/'],
    ['example.com/blog', 'https://example.com/blog'],
    ['example.com/blog/', 'https://www.example.com/blog/1'],
    ['example.com/*/docs', 'https://example.com/v1/docs/x'],
    ['*.gov', 'https://www.nasa.gov/'],
    ['*', 'https://anything.test/'],
    ['docs.*', 'https://docs.example.com/'],
    ['*.münchen.de', 'https://www.xn--mnchen-3ya.de/'],
  ])('%s has %s', (pattern, url) => expect(has(pattern, url)).toBe(true));

  it.each([
    ['example.com', 'https://notexample.com/'],
    ['example.com', 'https://example.com.evil.test/'],
    ['example.com', 'https://evil.test/example.com'],
    ['*.example.com', 'https://example.com/'],
    ['example.com/blog', 'https://example.com/blogger'],
    ['example.com/blog', 'https://example.com/'],
    ['example.com/*/docs', 'https://example.com/docs'],
    ['', 'https://example.com/'],
  ])('%s has not %s', (pattern, url) => expect(has(pattern, url)).toBe(false));

  it('says what an engine may be told', () => {
    const list = new DomainList(['a.test', '*.b.test/x', 'c.test/y', 'a.test']);
    expect(list.coveringHosts()).toEqual(['a.test', 'b.test', 'c.test']);
    expect(list.wholeHosts()).toEqual(['a.test']);
    expect(new DomainList(['a.*.test']).coveringHosts()).toBeUndefined();
  });
});

it('both lists apply', () => {
  const problem = (url: string) =>
    domainProblem(new URL(url), new DomainList(['a.test']), new DomainList(['a.test/secret']));
  expect(problem('https://a.test/')).toBeUndefined();
  expect(problem('https://a.test/secret/1')).toContain('blocked');
  expect(problem('https://b.test/')).toContain('none of the allowed');
});
